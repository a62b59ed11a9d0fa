#include "machine/node_model.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "params.hpp"

namespace halobench {
namespace {

double positive(std::istringstream& line, const std::string& where) {
  double value = 0;
  if (!(line >> value) || !(value > 0)) throw UsageError(where + ": give a number above 0");
  return value;
}

}  // namespace

NodeModel NodeModel::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("--machine " + path + ": can't be read");
  NodeModel model;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    std::istringstream line(text);
    std::string key;
    if (!(line >> key) || key.front() == '#') continue;
    const auto where = path + ":" + std::to_string(number) + ": " + key;
    const auto next = [&] { return positive(line, where); };
    if (key == "core_flops_per_s") {
      model.core_flops_per_s_ = next();
    } else if (key == "cores") {
      model.cores_ = next();
      model.sockets_ = next();
    } else if (key == "memory") {
      const double cores = next();
      model.memory_.push_back({cores, next()});
    } else if (key == "cache") {
      const double size = next();
      const double shared_by = next();
      const double alone = next();
      model.caches_.push_back({size, shared_by, alone, next()});
    } else if (key == "sharpness") {
      model.sharpness_ = next();
    } else {
      throw UsageError(where +
                       ": no such key; known: core_flops_per_s, cores, memory, cache, sharpness");
    }
    if (std::string rest; line >> rest) throw UsageError(where + ": '" + rest + "' is too much");
  }
  if (model.core_flops_per_s_ <= 0 || model.cores_ <= 0 || model.memory_.empty()) {
    throw UsageError(path + ": core_flops_per_s, cores and memory are all needed");
  }
  std::ranges::sort(model.caches_, {}, &CacheLevel::size_bytes);
  std::ranges::sort(model.memory_, {}, &MemoryPoint::cores);
  return model;
}

double NodeModel::memory_bandwidth(double cores) const {
  MemoryPoint below{0, 0};
  for (const auto& point : memory_) {
    if (cores <= point.cores) {
      const double slope =
          (point.bandwidth_bytes_per_s - below.bandwidth_bytes_per_s) / (point.cores - below.cores);
      return below.bandwidth_bytes_per_s + slope * (cores - below.cores);
    }
    below = point;
  }
  return below.bandwidth_bytes_per_s;
}

double NodeModel::share_of_a_core(int ranks_on_node, int threads) const {
  return std::min(1.0, cores_ / (static_cast<double>(ranks_on_node) * threads));
}

double NodeModel::seconds_per_byte(double working_set_bytes, int ranks_on_node, int threads) const {
  const double in_use = static_cast<double>(ranks_on_node) * threads;
  const double set = working_set_bytes / threads;
  const bool spans = threads > cores_ / sockets_;  // fills one socket before the next
  const double own = share_of_a_core(ranks_on_node, threads);
  const double crowd = cores_ > 1 ? std::min(1.0, (in_use - 1) / (cores_ - 1)) : 0.0;
  double found = 0;  // of the working set, in the levels so far
  double seconds = 0;
  for (const auto& cache : caches_) {
    const double even = std::max(1.0, std::ceil(in_use * cache.shared_by / cores_));
    const double sharing = spans ? std::max(cache.shared_by, even) : even;
    const double share = std::min(1.0, cache.size_bytes / sharing / std::max(set, 1.0));
    const double held = std::pow(share, sharpness_);
    if (held <= found) continue;
    const double bandwidth =
        std::lerp(cache.bandwidth_bytes_per_s, cache.crowded_bytes_per_s, crowd);
    seconds += (held - found) / (threads * own * bandwidth);
    found = held;
  }
  const double evenness = spans ? std::min(1.0, threads / cores_) : 1.0;
  return seconds + (1 - found) * ranks_on_node / (evenness * memory_bandwidth(in_use));
}

double NodeModel::seconds(const Traffic& traffic, int ranks_on_node, int threads) const {
  const double own = share_of_a_core(ranks_on_node, threads);
  return std::max(
      traffic.flops / (threads * own * core_flops_per_s_),
      traffic.bytes * seconds_per_byte(traffic.working_set_bytes, ranks_on_node, threads));
}

}  // namespace halobench

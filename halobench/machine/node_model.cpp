#include "machine/node_model.hpp"

#include <algorithm>
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
    if (key == "core_flops_per_s") {
      model.core_flops_per_s_ = positive(line, where);
    } else if (key == "core_bandwidth_bytes_per_s") {
      model.core_bandwidth_ = positive(line, where);
    } else if (key == "node_bandwidth_bytes_per_s") {
      model.node_bandwidth_ = positive(line, where);
    } else if (key == "cache") {
      const double size = positive(line, where);
      const double shared_by = positive(line, where);
      model.caches_.push_back({size, shared_by, positive(line, where)});
    } else {
      throw UsageError(where +
                       ": no such key; known: core_flops_per_s, core_bandwidth_bytes_per_s, "
                       "node_bandwidth_bytes_per_s, cache");
    }
    if (std::string rest; line >> rest) throw UsageError(where + ": '" + rest + "' is too much");
  }
  if (model.core_flops_per_s_ <= 0 || model.core_bandwidth_ <= 0 || model.node_bandwidth_ <= 0) {
    throw UsageError(path +
                     ": core_flops_per_s, core_bandwidth_bytes_per_s and "
                     "node_bandwidth_bytes_per_s are all needed");
  }
  std::ranges::sort(model.caches_, {}, &CacheLevel::size_bytes);
  return model;
}

double NodeModel::bandwidth(double working_set_bytes, int ranks_on_node, int threads) const {
  const double cores_in_use = static_cast<double>(ranks_on_node) * threads;
  for (const auto& cache : caches_) {
    const double share = cache.size_bytes / std::min(cache.shared_by, cores_in_use);
    if (working_set_bytes / threads <= share) return threads * cache.bandwidth_bytes_per_s;
  }
  return std::min(threads * core_bandwidth_, node_bandwidth_ / ranks_on_node);
}

double NodeModel::seconds(const Traffic& traffic, int ranks_on_node, int threads) const {
  return std::max(traffic.flops / (threads * core_flops_per_s_),
                  traffic.bytes / bandwidth(traffic.working_set_bytes, ranks_on_node, threads));
}

}  // namespace halobench

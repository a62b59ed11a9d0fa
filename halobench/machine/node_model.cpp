// SPDX-License-Identifier: BSD-3-Clause
#include "machine/node_model.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/usage_error.hpp"

namespace halobench {
namespace {

/// Of the bytes that stream's five loops move together: 4 of 16 arrays are written, and fetched
/// before that.
constexpr double stored_by_stream = 0.5;

double positive(std::istringstream& line, const std::string& where) {
  double value = 0;
  if (!(line >> value) || !(value > 0)) throw UsageError(where + ": give a number above 0");
  return value;
}

void read_spread(Spread& read, std::istringstream& line, const std::string& where) {
  if (!(line >> read.nodes >> read.phases >> read.seed) || read.nodes < 0 || read.phases < 0) {
    throw UsageError(where + ": give two numbers from 0, and a seed");
  }
}

double from_zero(std::istringstream& line, const std::string& where) {
  double value = 0;
  if (!(line >> value) || !(value >= 0)) throw UsageError(where + ": give a number from 0");
  return value;
}

DeviceModel device_of(std::istringstream& line, const std::string& where) {
  DeviceModel read;
  read.memory_bytes_per_s = positive(line, where);
  read.copy_bytes_per_s = positive(line, where);
  for (auto* cost_s : {&read.launch_s, &read.latency_s, &read.stream_sync_s, &read.device_sync_s,
                       &read.query_s, &read.operation_s}) {
    *cost_s = from_zero(line, where);
  }
  read.ranks = positive(line, where);
  return read;
}

}  // namespace

NodeModel NodeModel::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("--machine " + path + ": cannot read this file");
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
      model.crowded_flops_per_s_ = next();
    } else if (key == "cores") {
      model.cores_ = next();
      model.sockets_ = next();
    } else if (key == "memory") {
      const double cores = next();
      model.memory_.add(cores, next());
    } else if (key == "socket") {
      const double cores = next();
      model.socket_.add(cores, next());
    } else if (key == "stores") {
      const double cores = next();
      model.stores_.add(cores, next());
    } else if (key == "region") {
      const double threads = next();
      model.regions_.add(threads, next());
    } else if (key == "cache") {
      const double size = next();
      const double shared_by = next();
      const double alone = next();
      model.caches_.push_back({size, shared_by, alone, next()});
    } else if (key == "beside") {
      model.beside_ = true;
    } else if (key == "sharpness") {
      model.sharpness_ = next();
    } else if (key == "knee") {
      model.knee_ = next();
    } else if (key == "smt_gain") {
      model.smt_gain_ = next();
    } else if (key == "packed") {
      model.packed_ = (line >> std::ws).eof() ? 1 : next();
    } else if (key == "spread") {
      read_spread(model.spread_, line, where);
    } else if (key == "slowest") {
      model.spread_.slowest = next();
    } else if (key == "resume") {
      model.resume_s_ = next();
    } else if (key == "device") {
      model.device_ = device_of(line, where);
    } else {
      throw UsageError(where + ": no such key; known: core_flops_per_s, cores, memory, socket, " +
                       "stores, region, cache, beside, sharpness, knee, smt_gain, packed, " +
                       "spread, slowest, resume, device");
    }
    if (std::string rest; line >> rest) throw UsageError(where + ": unexpected '" + rest + "'");
  }
  if (model.core_flops_per_s_ <= 0 || model.cores_ <= 0 || model.memory_.empty()) {
    throw UsageError(path + ": core_flops_per_s, cores and memory are all needed");
  }
  std::ranges::sort(model.caches_, {}, &CacheLevel::size_bytes);
  return model;
}

NodeModel::Use NodeModel::use(int ranks_on_node, int threads,
                              std::optional<int> ranks_on_socket) const {
  const double in_use = static_cast<double>(ranks_on_node) * threads;
  const double of_a_socket = cores_ / sockets_;
  const double seats = of_a_socket * packed_;
  const double fullest = packed_ > 0 ? std::min(in_use, seats) : std::ceil(in_use / sockets_);
  Use use;
  use.of_a_core = std::clamp(packed_, 1.0, in_use);
  use.spans = packed_ > 0 && ranks_on_node < sockets_ && threads > seats;
  use.packed = packed_ > 0 ? fullest : 1;
  const bool waits = packed_ > 0 && fullest > 1 && !use.spans;  // for the fullest socket
  use.busy = waits ? std::max(in_use, fullest * sockets_) : in_use;
  const double cores = std::ceil(fullest / use.of_a_core);
  use.crowd = of_a_socket > 1 ? std::clamp((cores - 1) / (of_a_socket - 1), 0.0, 1.0) : 0.0;
  const double sharing = std::max(std::ceil(in_use / cores_), use.of_a_core);
  use.own = sharing > 1 ? std::min(1.0, smt_gain_ / sharing) : 1.0;
  const double seated = static_cast<double>(ranks_on_socket.value_or(0)) * threads;
  use.on_socket = ranks_on_socket ? seated : std::max(fullest, std::ceil(in_use / sockets_));
  return use;
}

double NodeModel::weight(const Traffic& traffic, double cores) const {
  if (stores_.empty() || traffic.bytes <= 0) return 1.0;
  const double more = stores_.at(cores) - 1;
  return (1 + more * traffic.stored_bytes / traffic.bytes) / (1 + more * stored_by_stream);
}

double NodeModel::found_in_last(double share) const {
  if (knee_ <= 0) return std::pow(std::min(1.0, share), sharpness_);
  return std::pow(1 + std::pow(share, -sharpness_ * knee_), -1 / knee_);
}

double NodeModel::sharing(const CacheLevel& cache, const Use& use) const {
  const double neighbours = std::min(use.packed, cache.shared_by * use.of_a_core);
  const double even = std::max(neighbours, use.busy * cache.shared_by / cores_);
  return use.spans ? std::max(cache.shared_by, even) : even;
}

Cost NodeModel::cost_per_byte(const Traffic& traffic, const Use& use, int threads) const {
  const double set = std::max(traffic.working_set_bytes / threads, 1.0);
  double found = 0;  // of the working set, in the levels so far
  double seconds = 0;
  double below = 0;  // bytes of a thread, in the level before
  for (const auto& cache : caches_) {
    const double sharers = sharing(cache, use);
    const double room = cache.size_bytes / std::ceil(sharers);
    const bool last = &cache == &caches_.back();
    const double held = last ? found_in_last((room + (beside_ ? below : 0.0)) / set)
                             : std::floor(std::min(1.0, room / set));
    below = cache.size_bytes / std::max(1.0, sharers);
    if (held <= found) continue;
    const double bandwidth =
        std::lerp(cache.bandwidth_bytes_per_s, cache.crowded_bytes_per_s, use.crowd);
    seconds += (held - found) / (threads * use.own * bandwidth);
    found = held;
  }
  const double slower = weight(traffic, use.busy / use.of_a_core);
  if (!socket_.empty()) {
    const double bandwidth = socket_.at(use.on_socket / use.of_a_core);
    return {seconds + slower * (1 - found) * use.on_socket / threads / bandwidth, 1 - found};
  }
  const double evenness = use.spans ? std::min(1.0, threads / (cores_ * use.of_a_core)) : 1.0;
  const double bandwidth = evenness * memory_.at(use.busy / use.of_a_core);
  return {seconds + slower * (1 - found) * use.busy / threads / bandwidth, 1 - found};
}

Cost NodeModel::cost(const Traffic& traffic, int ranks_on_node, int threads,
                     std::optional<int> ranks_on_socket) const {
  const auto now = use(ranks_on_node, threads, ranks_on_socket);
  const double rate = now.own * std::lerp(core_flops_per_s_, crowded_flops_per_s_, now.crowd);
  const auto of_a_byte = cost_per_byte(traffic, now, threads);
  const double regions = threads > 1 ? traffic.regions * regions_.at(threads) : 0.0;
  return {regions + std::max(traffic.flops / (threads * rate), traffic.bytes * of_a_byte.seconds),
          traffic.bytes * of_a_byte.memory_bytes};
}

}  // namespace halobench

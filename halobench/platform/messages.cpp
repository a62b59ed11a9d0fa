// SPDX-License-Identifier: BSD-3-Clause
#include "platform/messages.hpp"

#include <algorithm>
#include <iterator>

#include "platform/shared_memory.hpp"

namespace halobench {

namespace s4u = simgrid::s4u;

namespace {

/// Factor on a bandwidth where cores take the time of a message.
constexpr double unlimited = 1e6;

/// The row for messages of a size: the last one above whose bytes it is.
template <typename Row>
const Row& row_of(const std::vector<Row>& table, double bytes) {
  const auto larger = std::find_if(std::next(table.begin()), table.end(),
                                   [bytes](const Row& row) { return bytes <= row.above_bytes; });
  return *std::prev(larger);
}

double longest_s(const std::vector<WithinNode>& table) {
  return std::ranges::max(table, {}, &WithinNode::latency_s).latency_s;
}

}  // namespace

Distance distance_of(const s4u::Host* from, const s4u::Host* to) {
  if (from == nullptr || to == nullptr) return Distance::between;
  if (from == to) return Distance::within;
  const auto* one = SharedMemory::of(from);
  const auto* other = SharedMemory::of(to);
  const bool same_node = one != nullptr && other != nullptr && one->node() == other->node();
  return same_node ? Distance::across : Distance::between;
}

Distance distance_of_gpus(const s4u::Host* from, const s4u::Host* to) {
  if (from == nullptr || to == nullptr) return Distance::between;
  const auto& one = RankOnGpu::of(from);
  const auto& other = RankOnGpu::of(to);
  if (one.memory().node() != other.memory().node()) return Distance::between;
  if (&one.memory() != &other.memory()) return Distance::across;
  return one.gpu() == other.gpu() ? Distance::within : Distance::beside;
}

Messages::Messages(const Description& cluster, double eager_bytes)
    : within_(cluster.within),
      across_(cluster.sockets.across),
      between_(cluster.between),
      across_latency_s_(memories * cluster.within.front().latency_s +
                        cluster.sockets.link_latency_s),
      cached_bytes_(std::min(cluster.cached_bytes, eager_bytes - 1)),
      send_s_(cluster.send_s),
      receive_s_(cluster.receive_s) {}

double Messages::socket_link_bytes_per_s() const {
  return std::min(memory_bytes_per_s(), across_.back().bandwidth_bytes_per_s / memories);
}

double Messages::longest_latency_s() const {
  return across_.empty() ? longest_s(within_) : std::max(longest_s(within_), longest_s(across_));
}

double Messages::latency_factor(double bytes, Distance distance) const {
  if (distance == Distance::between) return row_of(between_, bytes).latency_factor;
  const double links_s = distance == Distance::within ? memory_latency_s() : across_latency_s_;
  return row_of(table(distance), bytes).latency_s / links_s;
}

double Messages::bandwidth_factor(double bytes, Distance distance) const {
  if (distance == Distance::between) return row_of(between_, bytes).bandwidth_factor;
  if (cached(bytes)) return unlimited;
  const double least =
      distance == Distance::within ? memory_bytes_per_s() : socket_link_bytes_per_s();
  return row_of(table(distance), bytes).bandwidth_bytes_per_s / least;
}

double Messages::half_s(double bytes, Distance distance) const {
  const double whole = bytes + envelope_bytes;
  return whole / row_of(table(distance), whole).bandwidth_bytes_per_s / 2;
}

const Gpus::Way& GpuMessages::way(Distance distance) const {
  if (distance == Distance::within) return gpus_.same_gpu;
  return distance == Distance::beside ? gpus_.same_socket : gpus_.other_socket;
}

double GpuMessages::latency_factor(double bytes, Distance distance, bool on_gpu) const {
  if (distance == Distance::between) {
    return on_gpu ? row_of(gpus_.between, bytes).latency_factor
                  : of_the_host_.latency_factor(bytes, distance);
  }
  if (on_gpu) return row_of(way(distance).rows, bytes).latency_s / link_latency_s;
  return of_the_host_.latency_factor(bytes, Distance::within) * of_the_host_.memory_latency_s() /
         link_latency_s;
}

double GpuMessages::bandwidth_factor(double bytes, Distance distance, bool on_gpu) const {
  if (distance == Distance::between) {
    return on_gpu ? row_of(gpus_.between, bytes).bandwidth_factor
                  : of_the_host_.bandwidth_factor(bytes, distance);
  }
  const double fast = on_gpu ? row_of(way(distance).rows, bytes).bandwidth_bytes_per_s
                             : of_the_host_.bandwidth_factor(bytes, Distance::within) *
                                   of_the_host_.memory_bytes_per_s();
  return fast / link_bytes_per_s(distance);
}

double GpuMessages::send_s(double bytes, Distance distance, bool on_gpu) const {
  if (on_gpu) return 0;
  return of_the_host_.send_s(bytes, distance == Distance::between ? distance : Distance::within);
}

double GpuMessages::receive_s(double bytes, Distance distance, bool on_gpu) const {
  if (on_gpu) return distance == Distance::between ? gpus_.receive_s : way(distance).receive_s;
  return of_the_host_.receive_s(bytes, distance == Distance::between ? distance : Distance::within);
}

}  // namespace halobench

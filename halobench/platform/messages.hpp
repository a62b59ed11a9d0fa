// SPDX-License-Identifier: BSD-3-Clause
// The times of messages on a simulated cluster, by their size and by how two ranks lie to each
// other.
#pragma once

#include <simgrid/s4u.hpp>
#include <vector>

#include "platform/description.hpp"

namespace halobench {

/// How two ranks lie to each other.
enum class Distance {
  within,   ///< a node, or a socket where each has a memory of its own, or a GPU
  beside,   ///< GPUs of a socket
  across,   ///< sockets of a node that have
  between,  ///< nodes
};

/// Of two hosts, which are nodes or sockets; between nodes where SMPI knows no host, as of a rank
/// that has ended before its message was requested.
Distance distance_of(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to);
/// Of two hosts of ranks on GPUs.
Distance distance_of_gpus(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to);

/// The times of messages, by size and distance, as SimGrid requests them.
///
/// Of a message within a node that caches hold, both ranks' cores are busy with their copies, one
/// message after the other; none waits for the memory. A larger one is a flow over the node's. One
/// between sockets is a flow over the memories of both and the link between them; each memory has
/// half of the copying to do, so the message is twice as fast as its flow.
class Messages {
 public:
  /// What SMPI adds to the size of each message.
  static constexpr double envelope_bytes = 16;

  /// Memories that a message between sockets is copied by.
  static constexpr double memories = 2;

  /// eager_bytes: from that size on a send waits for its receive, and SMPI requests no core's time.
  Messages(const Description& cluster, double eager_bytes);

  double memory_latency_s() const { return within_.front().latency_s; }

  /// Of the largest, one by itself.
  double memory_bytes_per_s() const { return within_.back().bandwidth_bytes_per_s; }

  /// Of the flow of the largest between sockets, one by itself.
  double socket_link_bytes_per_s() const;

  /// Of any within a node.
  double longest_latency_s() const;

  /// A factor on the sum of the links' latencies. bytes: with SMPI's envelope.
  double latency_factor(double bytes, Distance distance) const;

  /// A factor on the least bandwidth of the links. bytes: with SMPI's envelope.
  double bandwidth_factor(double bytes, Distance distance) const;

  /// Seconds of the sender's core. bytes: the message's own.
  double send_s(double bytes, Distance distance) const { return send_s_ + copy_s(bytes, distance); }

  /// Seconds of the receiver's core. bytes: the message's own.
  double receive_s(double bytes, Distance distance) const {
    return receive_s_ + copy_s(bytes, distance);
  }

  /// Whether caches hold it. bytes: with SMPI's envelope.
  bool cached(double bytes) const { return bytes <= cached_bytes_ + envelope_bytes; }

  /// Of a core for a message within a node by itself: one of two copies that take as long. bytes:
  /// the message's own.
  double half_s(double bytes, Distance distance) const;

 private:
  const std::vector<WithinNode>& table(Distance distance) const {
    return distance == Distance::within ? within_ : across_;
  }

  /// Of one whose copies wait for no memory.
  double copy_s(double bytes, Distance distance) const {
    const bool copied = distance != Distance::between && cached(bytes + envelope_bytes);
    return copied ? half_s(bytes, distance) : 0;
  }

  std::vector<WithinNode> within_;
  std::vector<WithinNode> across_;
  std::vector<BetweenNodes> between_;
  double across_latency_s_;  ///< of the links
  double cached_bytes_;
  double send_s_;
  double receive_s_;
};

/// The same between ranks on GPUs. Of a message in the memories of these, what a library
/// does within a node keeps the receiver's core busy, which takes one after the other; the rest is
/// a flow over the way between two GPUs: their own, or that of all between two sockets. One of the
/// host's memory takes what it takes elsewhere on a node of one memory, over the same way: it
/// shares no memory with others.
class GpuMessages {
 public:
  GpuMessages(const Description& cluster, const Messages& messages)
      : gpus_(cluster.gpus), of_the_host_(messages) {}

  /// Of each way within a node. SimGrid multiplies them with factors.
  static constexpr double link_latency_s = 1e-6;
  /// Of a way that two GPUs have to themselves: more than any message.
  static constexpr double own_link_bytes_per_s = 1e12;

  /// on_gpu: where it lies. bytes: with SMPI's envelope, but of receives and sends.
  double latency_factor(double bytes, Distance distance, bool on_gpu) const;
  double bandwidth_factor(double bytes, Distance distance, bool on_gpu) const;
  double send_s(double bytes, Distance distance, bool on_gpu) const;
  double receive_s(double bytes, Distance distance, bool on_gpu) const;

 private:
  const Gpus::Way& way(Distance distance) const;
  double link_bytes_per_s(Distance distance) const {
    return distance == Distance::across ? gpus_.link_bytes_per_s : own_link_bytes_per_s;
  }

  Gpus gpus_;
  Messages of_the_host_;
};

}  // namespace halobench

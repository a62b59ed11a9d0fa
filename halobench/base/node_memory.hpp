// SPDX-License-Identifier: BSD-3-Clause
// What the platform offers the program that it carries: a rank's computation on its node's memory.
#pragma once

namespace halobench {

/// The memory of a simulated node, or of one of its sockets. It is what the data of a SimGrid host
/// point to, where several ranks share the node; on other hosts there is none.
class NodeMemory {
 public:
  virtual ~NodeMemory() = default;

  /// The calling rank computes, on so many cores, for so many seconds if no message is copied
  /// meanwhile; returns how many more it took. bytes: what it moves of the memory then.
  virtual double compute(double seconds, double bytes, int cores) = 0;

  /// Of the node whose memory it is, or a part of it.
  virtual int ranks_on_node() const = 0;

  /// That share it: all of the node, or those of a socket.
  virtual int ranks() const = 0;

  /// Whether messages of the calling rank from now on are in its GPU's memory. Only
  /// ranks on GPUs can tell.
  virtual void messages_on_gpu(bool /*are*/) {}
};

}  // namespace halobench

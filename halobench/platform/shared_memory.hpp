// SPDX-License-Identifier: BSD-3-Clause
// The memory that ranks of a simulated node share: messages and computation, as flows.
#pragma once

#include <cstddef>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "base/node_memory.hpp"
#include "machine/over_cores.hpp"

namespace halobench {

/// A link that gives all flows together what the memory's curve gives to the cores behind them.
///
/// A message is a flow of its bytes, copied by two cores: between sockets, of half of them in the
/// memory of each, copied by one core there. A rank that computes is one only while messages are
/// under way: it sleeps, which is cheaper to simulate, until one starts.
class SharedMemory final : public NodeMemory {
 public:
  /// What it is to a message. copied: bytes that the memory moves for each one that is sent.
  struct Setting {
    OverCores curve;
    double copied;
    double alone_bytes_per_s;         ///< a message by itself
    double alone_across_bytes_per_s;  ///< half of one between sockets
    double longest_latency_s;         ///< of a message, before it is a flow
    int ranks;                        ///< that share it
    int ranks_on_node;
    unsigned long node;
  };

  explicit SharedMemory(Setting setting) : setting_(std::move(setting)) {}

  /// The one of a host; null where nobody shares it.
  static SharedMemory* of(const simgrid::s4u::Host* host);

  /// A rank's computation is a flow of so many bytes for each of a message, and so much faster: it
  /// is then as fast as it was set to be, and SimGrid's callbacks know it by its size.
  static constexpr double scale = 1e8;

  /// Whether a flow of so many bytes is a rank's computation: no message is as large.
  static bool computes(double bytes) { return bytes >= least_bytes; }

  /// The link of this memory, to be asked whether it is in use.
  void join(const simgrid::s4u::Link* link) { link_ = link; }

  double compute(double seconds, double bytes, int cores) override;
  int ranks_on_node() const override { return setting_.ranks_on_node; }
  int ranks() const override { return setting_.ranks; }

  unsigned long node() const { return setting_.node; }

  /// A message that no cache holds starts now: ranks that compute are flows from now on. across:
  /// between this socket and another.
  void message_starts(bool across);

  /// Bandwidth of this number of flows together, in bytes of messages per second.
  double capacity(int flows);

 private:
  static constexpr double least_bytes = 1e11;
  static constexpr double most_bytes = 9e18;  ///< that SimGrid counts

  /// A rank that computes while no message is under way.
  struct Sleeper {
    simgrid::s4u::SemaphorePtr woken;
    bool asleep = false;
  };

  bool messages_under_way() const;
  bool sleep_through(double seconds);
  void flow(double seconds, double bytes, int cores);
  double given_bytes_per_s(int cores);
  int copying_cores() const;

  Setting setting_;
  const simgrid::s4u::Link* link_ = nullptr;
  std::vector<Sleeper*> sleepers_;
  std::vector<double> given_;  ///< to so many cores, cached: SimGrid requests it often
  double last_start_s_ = -1;   ///< of a message
  int messages_ = 0;           ///< when the link was last shared out
  double within_ = 0;          ///< that started since none was under way
  double across_ = 0;          ///< ... half of whose copying is done here
  int computing_ranks_ = 0;
  int computing_cores_ = 0;
};

/// A rank's host on a GPU: it shares its socket's memory with others, and determines where its
/// messages lie.
class RankOnGpu final : public NodeMemory {
 public:
  RankOnGpu(SharedMemory& memory, std::size_t gpu) : memory_(memory), gpu_(gpu) {}

  /// The one of a host of a platform whose ranks are on GPUs.
  static RankOnGpu& of(const simgrid::s4u::Host* host) {
    return static_cast<RankOnGpu&>(*host->get_data<NodeMemory>());
  }

  double compute(double seconds, double bytes, int cores) override {
    return memory_.compute(seconds, bytes, cores);
  }
  int ranks_on_node() const override { return memory_.ranks_on_node(); }
  int ranks() const override { return memory_.ranks(); }
  void messages_on_gpu(bool are) override { messages_on_gpu_ = are; }

  bool messages_on_gpu() const { return messages_on_gpu_; }
  const SharedMemory& memory() const { return memory_; }
  std::size_t gpu() const { return gpu_; }

 private:
  SharedMemory& memory_;
  std::size_t gpu_;  ///< of its node
  bool messages_on_gpu_ = false;
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a simulated cluster and what their ranks share: one memory, or one a socket.
#pragma once

#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "platform/description.hpp"
#include "platform/messages.hpp"
#include "platform/shared_memory.hpp"

namespace halobench {

/// Makes the nodes of a zone and their memories.
///
/// A node is a host; where sockets have a memory each, it is a zone of as many hosts, which reach
/// each other by way of both memories and a link between them, and the network by way of nothing.
/// Where messages lie in the memory of GPUs, these are the hosts, or as many for each as ranks may
/// share it: those of a socket have a way to each other by themselves, those of two share one.
class Nodes {
 public:
  Nodes(const Description& cluster, const Messages& messages)
      : cluster_(cluster), messages_(messages) {}

  /// Whether nodes with ranks are zones of sockets or of GPUs.
  bool divided() const { return cluster_.sockets.count > 0 || cluster_.gpus.count > 0; }

  /// Whether this one has any ranks.
  bool used(unsigned long node) const { return cluster_.ranks.at(node) > 0; }

  simgrid::s4u::Host* host(simgrid::s4u::NetZone* cluster, unsigned long node) const;

  /// A node as a zone of its parts, and where the network reaches it.
  struct Divided {
    simgrid::s4u::NetZone* zone;
    simgrid::kernel::routing::NetPoint* gateway;
  };
  Divided parts(simgrid::s4u::NetZone* cluster, unsigned long node) const {
    return cluster_.gpus.count > 0 ? gpus(cluster, node) : sockets(cluster, node);
  }

  /// The link that messages between ranks of a node go over that is one host. Made after its host.
  simgrid::s4u::Link* memory(simgrid::s4u::NetZone* cluster, unsigned long node) const;

 private:
  Divided sockets(simgrid::s4u::NetZone* cluster, unsigned long node) const;
  Divided gpus(simgrid::s4u::NetZone* cluster, unsigned long node) const;
  std::vector<simgrid::s4u::Host*> gpu_hosts(simgrid::s4u::NetZone* zone, unsigned long node) const;
  simgrid::s4u::Link* memory_link(simgrid::s4u::NetZone* zone, const std::string& name) const;
  simgrid::s4u::Link* socket_link(simgrid::s4u::NetZone* zone, const std::string& name) const;
  /// A memory of that curve, whose link it is.
  SharedMemory& share(simgrid::s4u::Link* memory, unsigned long node, const OverCores& curve,
                      int ranks) const;

  const Description& cluster_;
  const Messages& messages_;
};

}  // namespace halobench

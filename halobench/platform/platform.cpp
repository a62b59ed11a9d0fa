// SPDX-License-Identifier: BSD-3-Clause
// The cluster that SMPI's ranks run on, by SimGrid's C++ interface: smpirun loads it.
//
// A node is a host whose ranks reach each other over a link of its own, its memory: a message by
// itself takes what the cluster file says, and many together no more than what the memory gives to
// the cores that copy them; where the file tells of sockets, each has a memory of its own.
// SimGrid's <cluster> has links within a node that nobody shares, and one table of protocols for
// all links; here messages within a node and between nodes have their own. SimGrid 3.32 and 4.1
// have other names for the same.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
#include <xbt/config.hpp>

#include "platform/description.hpp"
#include "platform/messages.hpp"
#include "platform/nodes.hpp"
#include "platform/shared_memory.hpp"
#include "simgrid/version.h"  // only after s4u.hpp, whose macros it takes

static_assert(SIMGRID_VERSION >= 33200, "the names below are those of 3.32, and of 4.1");

namespace {

namespace s4u = simgrid::s4u;
using halobench::Description;
using halobench::Distance;
using halobench::distance_of;
using halobench::distance_of_gpus;
using halobench::GpuMessages;
using halobench::Messages;
using halobench::Nodes;
using halobench::RankOnGpu;
using halobench::SharedMemory;
using Policy = s4u::Link::SharingPolicy;

/// The network, its nodes in their places.
s4u::NetZone* network(s4u::NetZone* world, const Description& cluster, const Nodes& nodes) {
  std::vector<unsigned int> children;
  std::vector<unsigned int> parents;
  std::vector<unsigned int> links;
  for (const auto& level : cluster.tree) {
    children.push_back(level.children);
    parents.push_back(level.parents);
    links.push_back(level.links);
  }
  const auto levels = static_cast<unsigned int>(cluster.tree.size());
  const double bandwidth = cluster.link_bytes_per_s;
  const double latency = cluster.link_latency_s;
  using At = std::vector<unsigned long>;
  const auto memory = [&nodes](s4u::NetZone* zone, const At&, unsigned long id) {
    return nodes.memory(zone, id);
  };
#if SIMGRID_VERSION >= 40000
  auto* zone = cluster.torus.empty()
                   ? world->add_netzone_fatTree("cluster", levels, children, parents, links,
                                                bandwidth, latency, Policy::SPLITDUPLEX)
                   : world->add_netzone_torus("cluster", cluster.torus, bandwidth, latency,
                                              Policy::SPLITDUPLEX);
  if (nodes.divided()) {  // SimGrid 4.1 takes zones for all of them, or for none
    zone->set_netzone_cb([&nodes](s4u::NetZone* within, const At&, unsigned long id) {
      return nodes.parts(within, id).zone;
    });
  } else {
    zone->set_host_cb([&nodes](s4u::NetZone* within, const At&, unsigned long id) {
      return nodes.host(within, id);
    });
  }
  zone->set_loopback_cb(memory);
  return zone;
#else
  using simgrid::kernel::routing::NetPoint;
  const auto host = [&nodes](s4u::NetZone* zone, const At&, unsigned long id) {
    if (nodes.divided() && nodes.used(id)) {
      const auto [parts, gateway] = nodes.parts(zone, id);
      return std::pair<NetPoint*, NetPoint*>(parts->get_netpoint(), gateway);
    }
    return std::pair<NetPoint*, NetPoint*>(nodes.host(zone, id)->get_netpoint(), nullptr);
  };
  const s4u::ClusterCallbacks callbacks(host, memory, {});
  if (!cluster.torus.empty()) {
    return s4u::create_torus_zone("cluster", world, cluster.torus, callbacks, bandwidth, latency,
                                  Policy::SPLITDUPLEX);
  }
  return s4u::create_fatTree_zone("cluster", world, {levels, children, parents, links}, callbacks,
                                  bandwidth, latency, Policy::SPLITDUPLEX);
#endif
}

/// Links of a level of a tree, from number `first` on: `of_a_part` of each part below it.
struct LinksOfLevel {
  unsigned long first;
  unsigned long of_a_part;
  const std::map<unsigned long, double>& left;
};

/// Gives the links above parts of a tree what others' traffic leaves of them.
///
/// SimGrid numbers a tree's links from the nodes up, and on each level those of a part before those
/// of the next, as link_from_CHILD_PARENT_NUMBER_UP and _DOWN.
void leave(const std::vector<s4u::Link*>& links, const Description& cluster) {
  std::vector<LinksOfLevel> levels;
  unsigned long first = 0;
  unsigned long below = cluster.nodes;  // nodes or switches
  unsigned long of_a_part = 1;
  for (const auto& level : cluster.tree) {
    of_a_part *= level.parents;
    levels.push_back({first, of_a_part * level.links, level.left});
    first += below * level.parents * level.links;
    below = below / level.children * level.parents;
  }
  for (auto* link : links) {
    const auto& name = link->get_name();
    if (name.rfind("link_from_", 0) != 0) continue;
    const auto way = name.rfind('_');
    const auto number = std::stoul(name.substr(name.rfind('_', way - 1) + 1));
    if (number >= first) throw std::logic_error(name + ": of no level");
    const auto level = std::find_if(levels.rbegin(), levels.rend(),
                                    [number](const auto& one) { return number >= one.first; });
    const auto left = level->left.find((number - level->first) / level->of_a_part);
    if (left != level->left.end()) link->set_bandwidth(link->get_bandwidth() * left->second);
  }
}

using Links = std::vector<s4u::Link*>;
using Zones = std::unordered_set<s4u::NetZone*>;

/// SimGrid requests it once as a message starts. A rank's computation starts at once: but of flows
/// without any latency SimGrid thinks that they yield to all others.
auto latency_factors(const Messages& messages) {
  return [messages](double bytes, const s4u::Host* from, const s4u::Host* to, const Links&,
                    const Zones&) {
    if (SharedMemory::computes(bytes)) return 1e-6;
    return messages.latency_factor(bytes, distance_of(from, to));
  };
}

/// The same; whoever computes on a memory that the message goes over is notified.
auto bandwidth_factors(const Messages& messages) {
  return [messages](double bytes, const s4u::Host* from, const s4u::Host* to, const Links&,
                    const Zones&) {
    if (SharedMemory::computes(bytes)) return SharedMemory::scale;
    const auto distance = distance_of(from, to);
    if (distance != Distance::between && !messages.cached(bytes)) {
      const bool across = distance == Distance::across;
      if (auto* shared = SharedMemory::of(from)) shared->message_starts(across);
      if (across) SharedMemory::of(to)->message_starts(across);
    }
    return messages.bandwidth_factor(bytes, distance);
  };
}

/// Seconds of a core at one end of a message, as SMPI requests them where it is sent eagerly.
template <double (Messages::*cost)(double, Distance) const>
SmpiOpCostCb costing(const Messages& messages) {
  return [messages](std::size_t bytes, const s4u::Host* from, const s4u::Host* to) {
    return (messages.*cost)(static_cast<double>(bytes), distance_of(from, to));
  };
}

/// Seconds of the sender's core for a message that it does not wait for.
///
/// A rank has one core: one that sends several large messages at once copies one after the other,
/// and is in MPI until the copy before is made. What it receives is not held up.
SmpiOpCostCb costing_one_by_one(const Messages& messages) {
  const auto free_s = std::make_shared<std::unordered_map<aid_t, double>>();  // of each rank's core
  return [messages, free_s](std::size_t size, const s4u::Host* from, const s4u::Host* to) {
    const auto bytes = static_cast<double>(size);
    const auto distance = distance_of(from, to);
    const double send_s = messages.send_s(bytes, distance);
    const bool cached = messages.cached(bytes + Messages::envelope_bytes);
    if (distance == Distance::between || cached) return send_s;
    const double now_s = s4u::Engine::get_clock();
    double& mine_s = (*free_s)[s4u::this_actor::get_pid()];
    const double begin_s = std::max(now_s, mine_s);
    mine_s = begin_s + messages.half_s(bytes, distance);
    return send_s + begin_s - now_s;
  };
}

/// What SimGrid requests of messages, by their bytes and the hosts of both ranks.
struct Asked {
  using Factor =
      std::function<double(double, const s4u::Host*, const s4u::Host*, const Links&, const Zones&)>;
  Factor latency;
  Factor bandwidth;
  SmpiOpCostCb send;
  SmpiOpCostCb isend;
  SmpiOpCostCb receive;
};

Asked of_hosts(const Messages& messages) {
  const auto send = costing_one_by_one(messages);
  return {latency_factors(messages), bandwidth_factors(messages), send, send,
          costing<&Messages::receive_s>(messages)};
}

/// One of GpuMessages' answers about a message, by the rank at one end of it, which determines
/// where it lies. All are eager to SMPI, so that a sender still says so when its message starts.
template <double (GpuMessages::*answer)(double, Distance, bool) const>
auto by_sender(const GpuMessages& messages) {
  return [messages](auto bytes, const s4u::Host* from, const s4u::Host* to, auto&&...) {
    return (messages.*answer)(static_cast<double>(bytes), distance_of_gpus(from, to),
                              RankOnGpu::of(from).messages_on_gpu());
  };
}

Asked of_gpus(const GpuMessages& messages) {
  const auto send = by_sender<&GpuMessages::send_s>(messages);
  return {by_sender<&GpuMessages::latency_factor>(messages),
          by_sender<&GpuMessages::bandwidth_factor>(messages), send, send,
          [messages](std::size_t bytes, const s4u::Host* from, const s4u::Host* to) {
            return messages.receive_s(static_cast<double>(bytes), distance_of_gpus(from, to),
                                      RankOnGpu::of(to).messages_on_gpu());
          }};
}

}  // namespace

/// What SimGrid calls. The file that describes the cluster is named by HALOBENCH_PLATFORM.
extern "C" void load_platform(const s4u::Engine& engine) {
  const char* path = std::getenv("HALOBENCH_PLATFORM");
  if (path == nullptr) throw std::runtime_error("HALOBENCH_PLATFORM names no file");
  const auto cluster = Description::read(path);
  const int eager_bytes = simgrid::config::get_value<int>("smpi/send-is-detached-thresh");
  const Messages messages(cluster, eager_bytes);
  const auto asked =
      cluster.gpus.count > 0 ? of_gpus(GpuMessages(cluster, messages)) : of_hosts(messages);
#if SIMGRID_VERSION >= 40000
  auto* world = engine.get_netzone_root();
  world->set_latency_factor_cb(asked.latency);
  world->set_bandwidth_factor_cb(asked.bandwidth);
#else
  auto* world = s4u::create_full_zone("world");
  world->get_network_model()->set_lat_factor_cb(asked.latency);
  world->get_network_model()->set_bw_factor_cb(asked.bandwidth);
#endif
  network(world, cluster, Nodes(cluster, messages))->seal();
  if (cluster.torus.empty()) leave(engine.get_all_links(), cluster);
  smpi_register_op_cost_callback(SmpiOperation::SEND, asked.send);
  smpi_register_op_cost_callback(SmpiOperation::ISEND, asked.isend);
  smpi_register_op_cost_callback(SmpiOperation::RECV, asked.receive);
#if SIMGRID_VERSION < 40000
  world->seal();
#endif
}

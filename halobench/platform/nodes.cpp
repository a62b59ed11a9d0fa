// SPDX-License-Identifier: BSD-3-Clause
#include "platform/nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "platform/shared_memory.hpp"
#include "simgrid/version.h"  // only after s4u.hpp, whose macros it takes

namespace halobench {

namespace s4u = simgrid::s4u;
using Policy = s4u::Link::SharingPolicy;

namespace {

/// Of a host, nominally: computation is charged in seconds.
constexpr double speed_flops = 1e9;

#if SIMGRID_VERSION >= 40000
auto* host_in(s4u::NetZone* zone, const std::string& name) {
  return zone->add_host(name, speed_flops);
}
auto* link_in(s4u::NetZone* zone, const std::string& name, double bytes_per_s) {
  return zone->add_link(name, bytes_per_s);
}
auto* zone_in(s4u::NetZone* parent, const std::string& name) {
  return parent->add_netzone_full(name);
}
auto* gateway_of(s4u::NetZone* zone, const std::string& name) {
  auto* router = zone->add_router(name);
  zone->set_gateway(router);
  return router;
}
#else
auto* host_in(s4u::NetZone* zone, const std::string& name) {
  return zone->create_host(name, speed_flops);
}
auto* link_in(s4u::NetZone* zone, const std::string& name, double bytes_per_s) {
  return zone->create_link(name, bytes_per_s);
}
auto* zone_in(s4u::NetZone* parent, const std::string& name) {
  return s4u::create_full_zone(name)->set_parent(parent);
}
auto* gateway_of(s4u::NetZone* zone, const std::string& name) { return zone->create_router(name); }
#endif

/// One way.
void route(s4u::NetZone* zone, const s4u::Host* from, const s4u::Host* to,
           const std::vector<s4u::LinkInRoute>& links) {
#if SIMGRID_VERSION >= 40000
  zone->add_route(from, to, links, false);
#else
  zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, links, false);
#endif
}

std::string name_of(unsigned long node) { return "node-" + std::to_string(node); }

}  // namespace

s4u::Host* Nodes::host(s4u::NetZone* cluster, unsigned long node) const {
  auto* host = host_in(cluster, name_of(node));
  host->set_core_count(cluster_.hardware_threads);
  return host->seal();
}

Nodes::Divided Nodes::sockets(s4u::NetZone* cluster, unsigned long node) const {
  const auto count = cluster_.sockets.count;
  auto* zone = zone_in(cluster, name_of(node) + "-sockets");
  std::vector<s4u::Host*> hosts;
  std::vector<s4u::LinkInRoute> memories;
  for (std::size_t socket = 0; socket < count; ++socket) {
    auto* host = host_in(zone, name_of(node) + "-socket-" + std::to_string(socket));
    host->set_core_count(cluster_.hardware_threads / static_cast<int>(count));
    host->set_property("node", name_of(node));
    auto* memory = memory_link(zone, host->get_name() + "-memory");
    auto& shared =
        share(memory, node, cluster_.sockets.memory, cluster_.sockets.ranks.at(node)[socket]);
    host->set_data(static_cast<NodeMemory*>(&shared));
    hosts.push_back(host->seal());
    memories.emplace_back(memory->seal());
  }
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      if (from == to) {
        route(zone, hosts[from], hosts[from], {memories[from]});
        continue;
      }
      auto* link = socket_link(zone, hosts[from]->get_name() + "-to-" + std::to_string(to));
      route(zone, hosts[from], hosts[to], {memories[from], s4u::LinkInRoute(link), memories[to]});
    }
  }
  auto* gateway = gateway_of(zone, name_of(node) + "-card");
  zone->seal();
  return {zone, gateway};
}

/// GPUs of a socket share the memory of the host there: theirs is the device's, which SimGrid does
/// not know. Each has a host for every rank that may share it.
std::vector<s4u::Host*> Nodes::gpu_hosts(s4u::NetZone* zone, unsigned long node) const {
  static std::deque<RankOnGpu> ranks;  // hosts point to them as long as there are any
  const auto& gpus = cluster_.gpus;
  const auto of_a_socket = gpus.count / gpus.sockets;
  const auto threads = cluster_.hardware_threads / static_cast<int>(gpus.count);
  const auto& curve = cluster_.sockets.count > 0 ? cluster_.sockets.memory : cluster_.memory;
  std::vector<s4u::Host*> hosts;
  SharedMemory* shared = nullptr;
  for (std::size_t i = 0; i < gpus.count * gpus.seats; ++i) {
    const auto gpu = i / gpus.seats;
    auto* host = host_in(
        zone, name_of(node) + "-gpu-" + std::to_string(gpu) + "-" + std::to_string(i % gpus.seats));
    host->set_core_count(std::max(1, threads));
    host->set_property("node", name_of(node));
    hosts.push_back(host);
    if (i % (of_a_socket * gpus.seats) == 0) {
      auto* memory = memory_link(zone, host->get_name() + "-memory");
      shared = &share(memory, node, curve, gpus.ranks.at(node)[gpu / of_a_socket]);
      memory->seal();
    }
    host->set_data(static_cast<NodeMemory*>(&ranks.emplace_back(*shared, gpu)));
    host->seal();
  }
  return hosts;
}

Nodes::Divided Nodes::gpus(s4u::NetZone* cluster, unsigned long node) const {
  const auto& all = cluster_.gpus;
  const auto socket_of = [&all](std::size_t gpu) { return gpu / (all.count / all.sockets); };
  auto* zone = zone_in(cluster, name_of(node) + "-gpus");
  const auto way = [zone](const std::string& name, double bytes_per_s) {
    auto* link = link_in(zone, name, bytes_per_s)->set_latency(GpuMessages::link_latency_s);
    return link->seal();
  };
  const auto hosts = gpu_hosts(zone, node);
  std::vector<s4u::Link*> sockets;  // from each to each other
  for (std::size_t i = 0; i < all.sockets * all.sockets; ++i) {
    sockets.push_back(way(name_of(node) + "-sockets-" + std::to_string(i), all.link_bytes_per_s));
  }
  std::vector<s4u::Link*> ways;  // from each GPU to each, one after the other
  for (std::size_t from = 0; from < all.count; ++from) {
    for (std::size_t to = 0; to < all.count; ++to) {
      const auto [one, other] = std::pair(socket_of(from), socket_of(to));
      const auto name =
          name_of(node) + "-gpu-" + std::to_string(from) + "-to-" + std::to_string(to);
      ways.push_back(one != other ? sockets[one * all.sockets + other]
                                  : way(name, GpuMessages::own_link_bytes_per_s));
    }
  }
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      auto* link = ways[from / all.seats * all.count + to / all.seats];
      route(zone, hosts[from], hosts[to], {s4u::LinkInRoute(link)});
    }
  }
  auto* gateway = gateway_of(zone, name_of(node) + "-card");
  zone->seal();
  return {zone, gateway};
}

s4u::Link* Nodes::memory(s4u::NetZone* cluster, unsigned long node) const {
  auto* link = memory_link(cluster, "memory-" + std::to_string(node));
  const int ranks = cluster_.ranks.at(node);
  if (ranks > 1 && !divided()) {
    auto& shared = share(link, node, cluster_.memory, ranks);
    s4u::Host::by_name(name_of(node))->set_data(static_cast<NodeMemory*>(&shared));
  }
  return link->seal();
}

s4u::Link* Nodes::memory_link(s4u::NetZone* zone, const std::string& name) const {
  return link_in(zone, name, messages_.memory_bytes_per_s())
      ->set_latency(messages_.memory_latency_s());
}

/// A flow over it is half of a message.
s4u::Link* Nodes::socket_link(s4u::NetZone* zone, const std::string& name) const {
  const double together = cluster_.sockets.link_bytes_per_s / Messages::memories;
  return link_in(zone, name, messages_.socket_link_bytes_per_s())
      ->set_latency(cluster_.sockets.link_latency_s)
      ->set_sharing_policy(Policy::NONLINEAR, [together](double, int) { return together; })
      ->seal();
}

SharedMemory& Nodes::share(s4u::Link* memory, unsigned long node, const OverCores& curve,
                           int ranks) const {
  const auto shared = std::make_shared<SharedMemory>(SharedMemory::Setting{
      .curve = curve,
      .copied = cluster_.copied,
      .alone_bytes_per_s = messages_.memory_bytes_per_s(),
      .alone_across_bytes_per_s =
          cluster_.sockets.count > 0 ? messages_.socket_link_bytes_per_s() : 0,
      .longest_latency_s = messages_.longest_latency_s(),
      .ranks = ranks,
      .ranks_on_node = cluster_.ranks.at(node),
      .node = node,
  });
  shared->join(memory);
  memory->set_sharing_policy(Policy::NONLINEAR,
                             [shared](double, int flows) { return shared->capacity(flows); });
  return *shared;  // the link keeps it
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include <sstream>
#include <string>
#include <vector>

#include "base/as_size.hpp"
#include "base/simulation.hpp"
#include "device/emulated/guarded_memory.hpp"
#include "device/kind.hpp"
#include "device/sharing.hpp"
#include "device/simulated.hpp"
#include "kernels/memory/memory.hpp"
#include "machine/own_gpu.hpp"
#include "mpi/agreement.hpp"
#include "mpi/on_node.hpp"

namespace halobench {
namespace {

/// What each rank of this rank's node sees of its GPUs, in their order. Collective.
std::vector<std::vector<std::string>> seen_on_node(const Communicator& comm) {
  std::string own;
  for (const auto& name : visible_devices()) own += name + "\t";
  std::vector<std::vector<std::string>> seen;
  for (const auto& text : gathered_on_node(comm, own)) {
    std::istringstream names(text);
    auto& one = seen.emplace_back();
    for (std::string name; std::getline(names, name, '\t');) one.push_back(name);
  }
  return seen;
}

/// Refused on all ranks where one has none. Collective.
int number_of_gpu(const Context& context, int shared) {
  const auto missing = device_missing();
  refuse_together(context.comm, missing.empty() ? ""
                                                : "memory=device: no GPU found by " +
                                                      device_kind() + " here: " + missing);
  const auto [number, problem] =
      chosen_gpus(seen_on_node(context.comm), shared)[as_size(context.comm.rank_on_node())];
  refuse_together(context.comm,
                  problem.empty() ? "" : "gpus_shared=" + std::to_string(shared) + ": " + problem);
  return number;
}

std::unique_ptr<Device> new_device(const Context& context, const MemorySettings& settings) {
  if (simulated()) {
    return std::make_unique<SimulatedDevice>(*context.meter.model()->device(),
                                             context.meter.executes());
  }
  name_in_faults("rank " + std::to_string(context.comm.rank()));
  const int number = device_kind() == "emulated" ? 0 : number_of_gpu(context, settings.sharing);
  return make_device(number, settings.lag, static_cast<unsigned>(context.comm.rank()));
}

}  // namespace

std::unique_ptr<Device> made_device(const Context& context, const MemorySettings& settings) {
  auto device = new_device(context, settings);
  device->report_to(context.meter);
  own_gpu() = device->identity();
  return device;
}

}  // namespace halobench

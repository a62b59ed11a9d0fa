// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "base/simulation.hpp"
#include "device/guarded_memory.hpp"
#include "device/kind.hpp"
#include "device/simulated.hpp"
#include "kernels/memory/memory.hpp"
#include "mpi/agreement.hpp"
#include "mpi/awareness.hpp"

namespace halobench {
namespace {

/// Is MPI given addresses of a device's memory?
bool takes_device_memory(const Params& params) {
  const bool says = !params.resolved({}).at("mpi").is_null();
  return says && params.choice("mpi") == "gpu_aware";
}

/// What is wrong with the GPUs of a rank's node, or with what MPI is to be given of them.
std::string problem_of_gpus(const Context& context, const Sharing& sharing) {
  const auto& params = context.params;
  if (const auto missing = device_missing(); !missing.empty()) {
    return "memory=device: no GPU by " + device_kind() + " here: " + missing;
  }
  if (const auto crowd = crowded(sharing); !crowd.empty()) {
    return "gpus_shared=" + std::to_string(sharing.of_a_gpu) + ": " + crowd;
  }
  const bool takes = takes_device_memory(params) && context.comm.size() > 1;
  if (!takes || mpi_says_aware(device_kind()).value_or(true)) return {};
  return "mpi=gpu_aware: " + library_version() + " says that it takes no addresses of a GPU's " +
         "memory (" + device_kind() + "): give mpi=staged, or load an MPI library that does";
}

std::unique_ptr<Device> new_device(const Context& context) {
  if (simulated()) {
    return std::make_unique<SimulatedDevice>(*context.meter.model()->device(),
                                             context.meter.executes());
  }
  name_in_faults("rank " + std::to_string(context.comm.rank()));
  Sharing sharing;
  if (device_kind() != "emulated") {
    sharing = {context.comm.rank_on_node(), context.comm.ranks_on_node(),
               static_cast<int>(context.params.integer("gpus_shared"))};
    refuse_together(context.comm, problem_of_gpus(context, sharing));
  }
  return make_device(sharing, context.params.choice("device_lag") == "until_waited");
}

}  // namespace

std::unique_ptr<Device> made_device(const Context& context) {
  auto device = new_device(context);
  device->trace_by(context.meter);
  return device;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "device/stream_messages.hpp"
#include "kernels/star_forest/space.hpp"
#include "star_forest/device_space.hpp"

namespace halobench {
namespace {

Ordering ordering_of(const std::string& name) {
  for (const auto& [known, ordering] : orderings) {
    if (name == known) return ordering;
  }
  throw UsageError("sync=" + name + ": not known");
}

}  // namespace

std::unique_ptr<Space> make_device_space(const Context& context, bool late) {
  const auto& params = context.params;
  const DeviceSpace::Setting setting{ordering_of(params.choice("sync")), stages_messages(params),
                                     late};
  auto device = made_device(context);
  auto messages = params.choice("mpi") == "nccl" ? connect_streams(context.comm) : nullptr;
  return std::make_unique<DeviceSpace>(context.meter, context.memory, std::move(device), setting,
                                       std::move(messages));
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "device/stream_messages.hpp"
#include "kernels/star_forest/space.hpp"
#include "star_forest/device_space.hpp"

namespace halobench {

std::unique_ptr<Space> make_device_space(const Context& context, const MemorySettings& settings,
                                         bool late) {
  const DeviceSpace::Setting setting{settings.ordering, settings.staged(), late};
  auto device = made_device(context, settings);
  auto messages = settings.by_stream() ? connect_streams(context.comm) : nullptr;
  return std::make_unique<DeviceSpace>(context.meter, context.memory, std::move(device), setting,
                                       std::move(messages));
}

}  // namespace halobench

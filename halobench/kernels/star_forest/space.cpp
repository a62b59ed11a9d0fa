// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/star_forest/space.hpp"

#include "star_forest/host_space.hpp"

namespace halobench {

SpaceMaker chosen_memory(const Context& context, const MemorySettings& settings, bool late) {
  if (!settings.on_device) return make_host_space;
  return [&context, settings, late](Meter&, Memory&) {
    return make_device_space(context, settings, late);
  };
}

}  // namespace halobench

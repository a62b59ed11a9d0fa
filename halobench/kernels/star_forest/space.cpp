// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/star_forest/space.hpp"

#include "star_forest/host_space.hpp"

namespace halobench {

SpaceMaker chosen_memory(const Context& context, bool late) {
  if (!is_on_device(context.params)) return make_host_space;
  return [&context, late](Meter&, Memory&) { return make_device_space(context, late); };
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Which memory a kernel's star forests work in.
#pragma once

#include <memory>

#include "kernel.hpp"
#include "kernels/memory/memory.hpp"
#include "star_forest/space.hpp"

namespace halobench {

/// Makes the space that the parameters ask for; `late`: on a device, messages begin when an
/// operation ends.
SpaceMaker chosen_memory(const Context& context, const MemorySettings& settings, bool late = false);

/// A space in the memory of the device that parameters ask for. Only in programs that have devices.
[[gnu::weak]] std::unique_ptr<Space> make_device_space(const Context& context,
                                                       const MemorySettings& settings, bool late);

}  // namespace halobench

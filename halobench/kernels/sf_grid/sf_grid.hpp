// SPDX-License-Identifier: BSD-3-Clause
// sf_grid in any memory.
#pragma once

#include "kernel.hpp"
#include "star_forest/space_maker.hpp"

namespace halobench {

/// sf_grid with its arrays and buffers in the space that `make_space` makes; without one, in the
/// memory that its parameters ask for.
Kernel sf_grid_in(const SpaceMaker& make_space);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// spmv in any memory.
#pragma once

#include "kernel.hpp"
#include "star_forest/space_maker.hpp"

namespace halobench {

/// spmv whose vectors and products are in the space that `make_space` makes; without one, in the
/// memory that its parameters ask for.
Kernel spmv_in(const SpaceMaker& make_space);

}  // namespace halobench

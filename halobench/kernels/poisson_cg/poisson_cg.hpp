// SPDX-License-Identifier: BSD-3-Clause
// poisson_cg in any memory.
#pragma once

#include "kernel.hpp"
#include "star_forest/space_maker.hpp"

namespace halobench {

/// poisson_cg whose vectors, with memory=device, are in the space that `make_space` makes; without
/// one, in the memory that its parameters ask for.
Kernel poisson_cg_in(const SpaceMaker& make_space);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// jacobi3d in any memory.
#pragma once

#include "kernel.hpp"
#include "star_forest/space_maker.hpp"

namespace halobench {

/// jacobi3d whose meshes, with memory=device, are in the space that `make_space` makes; without
/// one, in the memory that its parameters ask for.
Kernel jacobi3d_in(const SpaceMaker& make_space);

}  // namespace halobench

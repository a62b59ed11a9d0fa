// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradient method in a device's memory: the host sees two sums an iteration.
#pragma once

#include "kernels/poisson_cg/solver.hpp"
#include "star_forest/space.hpp"

namespace halobench::cg {

/// textbook, a device kernel for each of its loops; halos are exchanged by a star forest. Vectors
/// are in the space that `make_space` makes, which is a device's.
std::unique_ptr<Solver> textbook_on_device(const Context& context, Domain& domain,
                                           const SpaceMaker& make_space);

/// Bytes of its vectors, and of what passes through the host's memory, over all ranks.
double bytes_on_device(const Cut& cut);

}  // namespace halobench::cg

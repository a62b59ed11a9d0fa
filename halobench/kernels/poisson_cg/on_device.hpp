// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradient method in a device's memory: the host sees two sums an iteration.
#pragma once

#include "kernels/memory/memory.hpp"
#include "kernels/poisson_cg/solver.hpp"
#include "star_forest/space_maker.hpp"

namespace halobench::cg {

/// Of a point and an iteration: a processor's caches fetch what a product then overwrites, and
/// those of a GPU don't.
constexpr double not_fetched_bytes = 8;

/// textbook, a device kernel for each of its loops; halos are exchanged by a star forest. Vectors
/// are in the space that `make_space` makes; without one, in the memory that `memory`
/// requests. Only in programs that have devices.
[[gnu::weak]] std::unique_ptr<Solver> textbook_on_device(const Context& context,
                                                         const MemorySettings& memory,
                                                         Domain& domain,
                                                         const SpaceMaker& make_space);

}  // namespace halobench::cg

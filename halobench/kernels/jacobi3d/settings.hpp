// SPDX-License-Identifier: BSD-3-Clause
// The kernel's parameters: declared, parsed into one value, and checked before the launch.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel.hpp"
#include "kernels/jacobi3d/cut.hpp"
#include "kernels/jacobi3d/halo.hpp"
#include "kernels/jacobi3d/sweeper.hpp"
#include "kernels/memory/memory.hpp"

namespace halobench::jacobi {

/// The parameters of a case on a given number of ranks.
struct Settings {
  Cut cut;
  Variant variant;
  FaceExchange exchange;
  bool overlap;  ///< of sweeps and messages
  MemorySettings memory;
  std::int64_t value_bytes;  ///< of float or double
  std::int64_t sweeps;       ///< per step
};

std::vector<Parameter> parameters();

/// Appends what is wrong with the cut to `problems`; plan() finds all other problems.
Settings parse_settings(const Params& params, std::int64_t ranks, std::vector<Problem>& problems);

Plan plan(const Params& params, const Shape& shape);

}  // namespace halobench::jacobi

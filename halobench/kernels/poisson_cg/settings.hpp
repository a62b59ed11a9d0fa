// SPDX-License-Identifier: BSD-3-Clause
// The kernel's parameters: declared, parsed into one value, and checked before the launch.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel.hpp"
#include "kernels/cg/progress.hpp"
#include "kernels/memory/memory.hpp"
#include "kernels/poisson_cg/domain.hpp"
#include "kernels/poisson_cg/solver.hpp"

namespace halobench::cg {

/// The parameters of a case on a given number of ranks and threads.
struct Settings {
  Variant variant;
  SstepSetting sstep;  ///< of that variant
  Cut cut;
  Limits limits;
  ExchangeMode exchange;
  RightSide right_side;
  MemorySettings memory;
  std::int64_t samples;  ///< of the solution to record, per side
};

std::vector<Parameter> parameters();

/// Accepts all parameters; plan() has what is wrong with them.
Settings parse_settings(const Params& params, const Shape& shape);

Plan plan(const Params& params, const Shape& shape);

}  // namespace halobench::cg

// SPDX-License-Identifier: BSD-3-Clause
// Who adds which elements in sum3d, known before the launch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/params.hpp"
#include "mpi/rank_grid.hpp"
#include "numerics/grid.hpp"

namespace halobench {

/// The parameter `distribution`.
enum class Distribution { balanced, topology, subblock };

/// The parameters of a case on a given number of ranks.
struct SumLayout {
  Extents size{1, 1, 1};
  Extents topology{1, 1, 1};
  Distribution distribution = Distribution::balanced;
  std::int64_t elements = 0;

  /// A rank's block of the array, by dimension.
  std::array<Range, 3> block(std::int64_t rank) const;
  /// How many elements each rank adds.
  std::vector<int> counts(int ranks) const;
};

/// What `size`, `topology` and `distribution` request on a number of ranks; problems are appended
/// to `problems`.
SumLayout parse_sum_layout(const Params& params, std::int64_t ranks,
                           std::vector<Problem>& problems);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/jacobi3d/sweeper.hpp"

#include <algorithm>

#include "machine/cache.hpp"

namespace halobench::jacobi {

std::int64_t rows_in_cache(std::int64_t planes, std::int64_t row_bytes) {
  constexpr std::int64_t least = 1 << 20;
  const auto half = std::max(last_cache_share_bytes(), least) / 2;
  return std::max<std::int64_t>(1, half / (planes * row_bytes));
}

}  // namespace halobench::jacobi

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/jacobi3d/sweeper.hpp"

#include <algorithm>

#include "machine/cache.hpp"

namespace halobench::jacobi {

namespace {

constexpr std::int64_t usual_bytes = 1 << 20;

std::int64_t rows_in(std::int64_t cache_bytes, std::int64_t planes, std::int64_t row_bytes) {
  return std::max<std::int64_t>(1, cache_bytes / 2 / (planes * row_bytes));
}

}  // namespace

std::int64_t rows_in_last_cache(std::int64_t planes, std::int64_t row_bytes) {
  return rows_in(std::max(last_cache_share_bytes(), usual_bytes), planes, row_bytes);
}

std::int64_t rows_in_second_cache(std::int64_t planes, std::int64_t row_bytes) {
  const auto cache = second_cache_share_bytes();
  return rows_in(cache == 0 ? usual_bytes : cache, planes, row_bytes);
}

}  // namespace halobench::jacobi

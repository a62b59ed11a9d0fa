// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/sparse/csr.hpp"

#include <algorithm>
#include <array>

#include "base/as_size.hpp"
#include "base/prefetch.hpp"

namespace halobench {
namespace {

/// Values and columns are prefetched so many entries ahead: 4 KiB of values. Hardware prefetching
/// is not enough where a core waits for memory: one core takes 1.3 times as long without this
/// (3-D 27-point matrix of a million rows).
constexpr std::int64_t ahead = 512;

inline void prefetch_ahead(const double* values, const std::int32_t* columns) {
  prefetch_line<Soon::read>(values + ahead);
  prefetch_line<Soon::read>(columns + ahead);
}

/// Four sums side by side, so that an addition does not wait for the one before it.
inline double row_times(const double* values, const std::int32_t* columns, std::int64_t count,
                        const double* x) {
  double a = 0;
  double b = 0;
  double c = 0;
  double d = 0;
  const auto add_four = [&] {
    a += values[0] * x[columns[0]];
    b += values[1] * x[columns[1]];
    c += values[2] * x[columns[2]];
    d += values[3] * x[columns[3]];
    values += 4;
    columns += 4;
  };
  prefetch_ahead(values, columns);
  for (; count >= 8; count -= 8) {  // a cache line of values
    prefetch_ahead(values + 8, columns + 8);
    add_four();
    add_four();
  }
  if (count >= 4) {
    add_four();
    count -= 4;
  }
  for (; count > 0; --count) a += *values++ * x[*columns++];
  return (a + b) + (c + d);
}

inline double row_times(const Csr& a, std::int64_t row, const double* x) {
  const auto begin = a.begin[row];
  return row_times(a.values + begin, a.columns + begin, a.begin[row + 1] - begin, x);
}

constexpr std::int64_t together = 4;

/// Rows with the same offsets: each offset is read once, and no addition waits for another row's.
inline void rows_times(const double* values, const std::int32_t* offsets, std::int64_t count,
                       const double* x, double* y) {
  std::array<double, together> sums{};
  for (std::int64_t k = 0; k < count; ++k) {
    if (k % (8 / together) == 0) prefetch_line<Soon::read>(values + together * k + ahead);
    for (std::int64_t row = 0; row < together; ++row) {
      sums[as_size(row)] += values[row * count + k] * x[offsets[k] + row];
    }
  }
  std::ranges::copy(sums, y);
}

}  // namespace

void multiply(const Csr& a, Range rows, const double* x, double* y) {
  for (auto i = rows.begin; i < rows.end; ++i) y[i] = row_times(a, i, x);
}

void multiply(const SharedCsr& a, Range rows, const double* x, double* y) {
  const auto* values = a.values + a.begin[rows.begin];
  for (auto i = rows.begin; i < rows.end;) {
    const auto* place = a.places + i;
    const std::int64_t count = a.lists[*place];
    const auto* offsets = a.lists + *place + 1;
    const bool alike =
        i + together <= rows.end &&
        std::all_of(place, place + together, [&](auto one) { return one == *place; });
    if (alike) {
      rows_times(values, offsets, count, x + i, y + i);
    } else {
      y[i] = row_times(values, offsets, count, x + i);
    }
    const auto done = alike ? together : 1;
    i += done;
    values += done * count;
  }
}

void multiply_add(const Csr& a, const std::int32_t* places, Range rows, const double* x,
                  double* y) {
  for (auto i = rows.begin; i < rows.end; ++i) y[places[i]] += row_times(a, i, x);
}

void scatter_add(const std::int32_t* places, Range rows, const double* z, double* y) {
  for (auto i = rows.begin; i < rows.end; ++i) y[places[i]] += z[i];
}

}  // namespace halobench

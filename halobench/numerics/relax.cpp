// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/relax.hpp"

#include <algorithm>
#include <array>

#include "machine/streaming.hpp"

namespace halobench {

template <class Value>
void relax(Value* out, const Planes<Value>& from, std::int64_t first, std::int64_t count) {
  const Value* below = from.below + first;
  const Value* here = from.here + first;
  const Value* above = from.above + first;
  const std::int64_t row = from.row;
  // A cache line at a time: GCC takes half of AVX-512's registers otherwise.
#pragma omp simd simdlen(64 / sizeof(Value))
  for (std::int64_t k = 0; k < count; ++k) {
    out[k] =
        (((below[k] + above[k]) + (here[k - row] + here[k + row])) + (here[k - 1] + here[k + 1])) *
        (Value{1} / Value{6});
  }
}

/// By way of a few lines in the first cache: a streaming store must have all of a line at once.
template <class Value>
void relax_streaming(Value* out, const Planes<Value>& from, std::int64_t first,
                     std::int64_t count) {
  constexpr std::int64_t longest = 64;
  alignas(64) std::array<Value, longest> row;
  for (std::int64_t k = 0; k < count; k += longest) {
    const auto now = std::min(longest, count - k);
    relax(row.data(), from, first + k, now);
    stream_row(out + k, row.data(), now);
  }
}

template void relax(double*, const Planes<double>&, std::int64_t, std::int64_t);
template void relax(float*, const Planes<float>&, std::int64_t, std::int64_t);
template void relax_streaming(double*, const Planes<double>&, std::int64_t, std::int64_t);
template void relax_streaming(float*, const Planes<float>&, std::int64_t, std::int64_t);

}  // namespace halobench

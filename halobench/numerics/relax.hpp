// One sweep of Jacobi's method over a row of points: every value becomes the mean of its six
// neighbours'.
#pragma once

#include <cstdint>

namespace halobench {

/// Three planes of values next to each other, by the address of the same point in each; rows of a
/// plane are `row` values apart, points of a row lie side by side.
template <class Value>
struct Planes {
  const Value* below;
  const Value* here;
  const Value* above;
  std::int64_t row;
};

/// out[k] = the mean round point `first` + k. Every variant goes through here, and nothing in it
/// can be contracted to a fused multiply-add: values are the same to the last bit.
template <class Value>
inline void relax(Value* __restrict out, const Planes<Value>& from, std::int64_t first,
                  std::int64_t count) {
  const Value* below = from.below + first;
  const Value* here = from.here + first;
  const Value* above = from.above + first;
  const std::int64_t row = from.row;
#pragma omp simd
  for (std::int64_t k = 0; k < count; ++k) {
    out[k] =
        (((below[k] + above[k]) + (here[k - row] + here[k + row])) + (here[k - 1] + here[k + 1])) *
        (Value{1} / Value{6});
  }
}

constexpr double relax_flops = 6;  ///< a point

}  // namespace halobench

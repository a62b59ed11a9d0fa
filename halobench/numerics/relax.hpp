// SPDX-License-Identifier: BSD-3-Clause
// One sweep of Jacobi's method over a row of points: every value becomes the mean of its six
// neighbours'.
#pragma once

#include <array>
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

  Planes next_row() const { return {below + row, here + row, above + row, row}; }
};

/// out[k] = the mean round point `first` + k; `out` may be the row of the plane below itself. Every
/// variant calls this one function, and nothing in it can be contracted to a fused multiply-add:
/// values are the same to the last bit. Not inline: among the loops of a caller GCC 12 made it
/// slower.
template <class Value>
void relax(Value* out, const Planes<Value>& from, std::int64_t first, std::int64_t count);

/// Whether results are stored in the caches or past them (see stream_row()).
enum class Stores { plain, streaming };

/// The same for two planes, this one and that above it, whose upper neighbour is `top`: values are
/// loaded once for both.
template <class Value, Stores stores>
void relax_two(const std::array<Value*, 2>& out, const Planes<Value>& from, const Value* top,
               std::int64_t first, std::int64_t count);

constexpr double relax_flops = 6;  ///< a point

}  // namespace halobench

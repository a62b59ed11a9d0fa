// SPDX-License-Identifier: BSD-3-Clause
// How the values on a rank's box, and on its ghost layers, lie in memory.
#pragma once

#include <cstdint>

#include "kernels/jacobi3d/cut.hpp"
#include "numerics/relax.hpp"

namespace halobench::jacobi {

constexpr std::int64_t line_bytes = 64;
constexpr std::int64_t page_bytes = 4096;

/// `count` rounded up to whole cache lines of `per_line` values; and one line more where rows so
/// far apart would share cache sets.
constexpr std::int64_t row_stride(std::int64_t count, std::int64_t per_line) {
  const std::int64_t stride = (count + per_line - 1) / per_line * per_line;
  return stride % (page_bytes / line_bytes * per_line) == 0 ? stride + per_line : stride;
}

/// Values of a box and its ghost layers: z fastest; rows of own points begin at cache lines.
class Storage {
 public:
  Storage(const Part& part, std::int64_t value_bytes) {
    const std::int64_t per_line = line_bytes / value_bytes;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const bool ghosts = part.open[axis][0] || part.open[axis][1];
      before_[axis] = ghosts ? part.depth : 1;
      extents_[axis] = part.extents[axis] + 2 * before_[axis];
    }
    const std::int64_t aligned = (before_[2] + per_line - 1) / per_line * per_line;
    extents_[2] = row_stride(extents_[2] + aligned - before_[2], per_line);
    before_[2] = aligned;
    // Planes that lie whole pages apart would share cache sets, too.
    gap_ = extents_[1] * extents_[2] % (page_bytes / value_bytes) == 0 ? per_line : 0;
  }

  std::int64_t row() const { return extents_[2]; }
  std::int64_t plane() const { return extents_[1] * extents_[2] + gap_; }
  std::int64_t planes() const { return extents_[0]; }
  std::int64_t size() const { return planes() * plane(); }
  /// Where a point lies; negative coordinates are ghosts'.
  std::int64_t at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return (x + before_[0]) * plane() + (y + before_[1]) * row() + z + before_[2];
  }

 private:
  Extents extents_{};  ///< ghosts and padding included
  Extents before_{};   ///< values before the first own one, along each axis
  std::int64_t gap_;
};

/// Values in memory that is laid out so.
template <class Value>
struct Mesh {
  Storage storage;
  Value* memory;

  Value* at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return memory + storage.at(x, y, z);
  }
  /// The planes next to plane x, by the address of their point (y, 0).
  Planes<Value> planes(std::int64_t x, std::int64_t y) const {
    return {at(x - 1, y, 0), at(x, y, 0), at(x + 1, y, 0), storage.row()};
  }
};

/// Runs body(part, thread) on one share of `box` for each thread, cut along x: the same cut
/// wherever values are written, so that a thread finds its own near.
template <class Body>
void in_threads(const Box& box, std::int64_t threads, const Body& body) {
#pragma omp parallel for schedule(static, 1) num_threads(static_cast<int>(threads))
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    Box part = box;
    part[0] = share(box[0], threads, thread);
    if (part[0].size() > 0) body(part, thread);
  }
}

}  // namespace halobench::jacobi

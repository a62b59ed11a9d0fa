// SPDX-License-Identifier: BSD-3-Clause
// How a square grid is cut into pieces, and how a piece and its halo lie in memory.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halobench {

/// Indices from `begin` to `end`, `end` excluded.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  constexpr std::int64_t size() const { return end - begin; }
  constexpr bool contains(std::int64_t i) const { return begin <= i && i < end; }
};

/// Part `index` of `items` indices cut into `parts` as even as can be, the larger ones first.
constexpr Range share(Range items, std::int64_t parts, std::int64_t index) {
  const std::int64_t least = items.size() / parts;
  const std::int64_t larger = items.size() % parts;
  const std::int64_t begin = items.begin + index * least + (index < larger ? index : larger);
  return {begin, begin + least + (index < larger ? 1 : 0)};
}

struct Rectangle {
  Range rows;
  Range cols;

  std::int64_t points() const { return rows.size() * cols.size(); }
  bool contains(std::int64_t row, std::int64_t col) const {
    return rows.contains(row) && cols.contains(col);
  }
};

/// A grid function on a rectangle. Row i begins at row(i); indices below 0 and from the end on, of
/// rows and columns, are the halo.
struct Field {
  double* first = nullptr;  ///< row 0, column 0
  std::int64_t stride = 0;  ///< from one row to the next

  double* row(std::int64_t i) const { return first + i * stride; }
};

/// Where grid functions on a rectangle lie: rows begin at cache lines, with the halo around them,
/// and around that a rim of one point that sweeps over the halo may read.
class Layout {
 public:
  explicit Layout(const Rectangle& place, std::int64_t halo = 1)
      : margin_(halo + 1),
        before_((margin_ + line - 1) / line * line),
        stride_(row_stride(before_ + place.cols.size() + margin_)),
        rows_(place.rows.size() + 2 * margin_) {}

  /// Doubles taken by one grid function.
  std::int64_t size() const { return rows_ * stride_; }
  /// The grid function that occupies `memory`, `size()` doubles aligned to a cache line.
  Field field(double* memory) const { return {memory + margin_ * stride_ + before_, stride_}; }
  /// Sets all of it to 0, halo and padding included.
  void clear(const Field& field) const {
    std::fill_n(field.first - margin_ * stride_ - before_, size(), 0.0);
  }

 private:
  static constexpr std::int64_t line = 8;    // doubles in a cache line
  static constexpr std::int64_t page = 512;  // rows a multiple of it apart would share cache sets

  static constexpr std::int64_t row_stride(std::int64_t least) {
    const std::int64_t stride = (least + line - 1) / line * line;
    return stride % page == 0 ? stride + line : stride;
  }

  std::int64_t margin_;
  std::int64_t before_;  // doubles from a row's start in memory to its column 0
  std::int64_t stride_;
  std::int64_t rows_;
};

}  // namespace halobench

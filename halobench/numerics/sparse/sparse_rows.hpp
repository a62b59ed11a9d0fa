// SPDX-License-Identifier: BSD-3-Clause
// Rows of square sparse matrices, one after another: what a matrix is before anybody stores it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "numerics/grid.hpp"

namespace halobench {

struct Entry {
  std::int64_t column;
  double value;
};

/// Called with a row and its entries, columns ascending.
using RowVisitor = std::function<void(std::int64_t row, std::span<const Entry> entries)>;

class SparseRows {
 public:
  virtual ~SparseRows() = default;

  virtual std::int64_t rows() const = 0;
  /// Of all rows; of a power law, about so many.
  virtual double nonzeros() const = 0;
  /// No entry is further from the diagonal.
  virtual std::int64_t reach() const { return rows(); }
  virtual bool symmetric() const = 0;
  /// Whether all values are small whole numbers, so that sums of products with such are exact.
  virtual bool whole() const { return true; }
  /// Visits rows in order. Several threads may visit at once.
  virtual void visit(Range rows, const RowVisitor& visitor) const = 0;
};

/// What a generated matrix is made from. n: grid points along each axis of a stencil, rows of the
/// others. row_length, bandwidth: of a random matrix, and the mean row length of a power law; a
/// bandwidth of 0 sets no limit.
struct Recipe {
  std::string name;
  std::int64_t n = 1;
  std::int64_t row_length = 1;
  std::int64_t bandwidth = 0;
};

/// Names of generated matrices.
std::vector<std::string> recipe_names();

/// The matrix, which must have less than 2^63 rows; nothing for a name that is none.
///
/// 2d5, 2d9, 3d7, 3d27: -1 for each neighbour on a grid of n^2 or n^3 points, x fastest, and on the
/// diagonal as many as a point inside has. random: one entry in each of row_length equal parts of
/// the band. power_law: row lengths L with a density of L^-2.5, and columns that appear in as many
/// rows by the same law, the first ones most often.
std::unique_ptr<SparseRows> generated_rows(const Recipe& recipe);

}  // namespace halobench

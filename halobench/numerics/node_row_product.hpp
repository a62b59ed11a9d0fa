// SPDX-License-Identifier: BSD-3-Clause
// The product of a matrix whose nodes all have the same row with a vector, without the matrix.
#pragma once

#include <array>
#include <cstdint>

#include "numerics/grid.hpp"
#include "numerics/hexahedron.hpp"

namespace halobench {

/// Lines of nodes along x, next to each other along y, in vectors with a layer around all nodes.
struct NodeLines {
  std::int64_t place;  ///< of the first line's node -1, where a row of storage begins
  std::int64_t row;    ///< to the next line along y: a multiple of `node_row_unit`
  std::int64_t plane;  ///< to the next line along z
  Range nodes;         ///< of each line, counted from 0 at place + 1
};

/// Rows of storage are multiples of this: whole vectors on every processor.
constexpr std::int64_t node_row_unit = 8;

/// A symmetric row of 27 weights, applied to up to `most_lines` lines in one call.
class NodeRowProduct {
 public:
  explicit NodeRowProduct(const NodeRow& row);

  /// Lines in one call: their neighbours along y are loaded once.
  static constexpr std::int64_t most_lines = 2;
  /// Floating-point operations of a row.
  static constexpr double flops = 21;

  /// For each of `count` lines, the sum of p times A p.
  void dot(const NodeLines& lines, std::int64_t count, const double* p, double* sums) const;
  /// x += alpha p and r -= alpha A p; for each of `count` lines, the sum of squares of the new r.
  void advance(const NodeLines& lines, std::int64_t count, double alpha, const double* p, double* x,
               double* r, double* sums) const;

 private:
  /// Of a node's own line along x, the two beside it, the two above and below, the four diagonal.
  using Weights = std::array<double, 4>;

  template <std::int64_t count, class Body>
  void for_each_vector(const NodeLines& lines, const double* p, const Body& body) const;

  Weights centre_;     ///< nodes at the same x
  Weights neighbour_;  ///< nodes one step away along x
};

}  // namespace halobench

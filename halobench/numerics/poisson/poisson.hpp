// SPDX-License-Identifier: BSD-3-Clause
// The test problem of the HPCF reports: -Laplace u = f on the unit square, u = 0 on its boundary;
// and two rougher right-hand sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/as_size.hpp"

namespace halobench {

/// What the system is solved for.
enum class RightSide {
  paper,   ///< h^2 f of the papers: smooth, its solution known
  random,  ///< evenly distributed in [-1, 1), the same numbers however the grid is cut
  point,   ///< 1 at one point off the centre, 0 elsewhere
};

/// n x n interior points, mesh width h = 1/(n+1), five-point differences: A u = h^2 f with 4 on the
/// diagonal of A and -1 for each neighbour. Source: hpcf-2018-10, section 2 and equation (3.1).
class Poisson {
 public:
  explicit Poisson(std::int64_t n, RightSide kind = RightSide::paper);

  /// All eigenvalues of A are between 0 and this.
  static constexpr double largest_eigenvalue = 8;

  std::int64_t n() const { return n_; }
  double h() const { return h_; }

  /// The right-hand side at an interior point; rows and columns count from 0.
  double right_side(std::int64_t row, std::int64_t col) const;

  /// Whether the differential equation's solution is known.
  bool has_exact() const { return kind_ == RightSide::paper; }
  /// u = sin^2(pi x) sin^2(pi y), the solution for the papers' right-hand side.
  double exact(std::int64_t row, std::int64_t col) const {
    return sin2_[as_size(col)] * sin2_[as_size(row)];
  }

 private:
  std::int64_t n_;
  RightSide kind_;
  double h_;
  double scale_;                 // -2 pi^2 h^2
  std::vector<double> sin2_;     // sin^2(pi x_i)
  std::vector<double> cos_2pi_;  // cos(2 pi x_i)
};

}  // namespace halobench

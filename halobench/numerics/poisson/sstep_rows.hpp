// SPDX-License-Identifier: BSD-3-Clause
// What s-step CG does to one row of the grid: two iterations at once, and powers of A.
//
// Rows travel through the levels of a sweep one behind the other. All levels work in place on x, r
// and p, but for the first direction of each pair of iterations and the powers, of which only a few
// rows are alive at a time: those lie in rings.
#pragma once

#include <cstdint>

#include "numerics/grid.hpp"
#include "numerics/poisson/poisson_rows.hpp"

namespace halobench {

/// The last four rows of a grid function that is never stored as a whole.
struct Ring {
  double* first = nullptr;  ///< row 0, column 0
  std::int64_t stride = 0;

  double* row(std::int64_t i) const { return first + (i & 3) * stride; }
};

/// The scalars of two iterations: p = r + beta p, then r -= alpha A p, twice.
struct TwoIterations {
  double alpha0 = 0;
  double beta0 = 0;
  double alpha1 = 0;
  double beta1 = 0;
};

/// Two iterations as the wave of rows arrives at row i: the first direction on row i + 1, into `d`;
/// then r after the first iteration, the second direction and x on row i; then r after the second
/// on row i - 1. To be called for i = rows.begin - 1 ... rows.end in turn; r, p and x change on
/// `rows` and `cols` alone.
void advance_pair(const Strip& strip, const Ring& d, std::int64_t i, Range rows, Range cols,
                  const TwoIterations& pair);

/// What a row of v adds to inner products, as t = A v is made from it.
struct PowerSums {
  double self = 0;   ///< to (v, v)
  double cross = 0;  ///< to (v, t)
  double next = 0;   ///< to (t, t)
  /// The products of t at neighbouring points, those of the row above with its points' left
  /// neighbours and with this row: (t, A t) = 4 (t, t) - 2 times their sum over all rows.
  double bonds = 0;
};

/// t = A v on `count` points of a row, from three rows of v; `t_above` is the row of t above.
PowerSums raise(double* t, const double* t_above, const double* above, const double* middle,
                const double* below, std::int64_t count);

/// What a row adds to the inner products of powers of two vectors u and v, as A u and A v are made.
struct GramSums {
  double uu1 = 0;   ///< (u, A u)
  double u1u1 = 0;  ///< (A u, A u)
  double uv1 = 0;   ///< (u, A v)
  double u1v1 = 0;  ///< (A u, A v)
  double vv1 = 0;   ///< (v, A v)
  double v1v1 = 0;  ///< (A v, A v)
};

/// Row i of `count` points, A u into `u1` and A v into `v1`; `u` and `v` point to three rows each.
GramSums raise_both(double* u1, double* v1, const double* const* u, const double* const* v,
                    std::int64_t count);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// What the solvers do to one row of the grid: serial loops over a strip's rows, no MPI, no threads.
// Every row, at a strip's edge or inside, goes through the same function, so results do not depend
// on how the grid is cut among threads.
#pragma once

#include <cstdint>
#include <functional>

#include "numerics/grid.hpp"

namespace halobench {

/// One thread's part of the grid, with its own halo. Vectors that a solver doesn't use are empty.
struct Strip {
  Rectangle place;   ///< in the whole grid
  Rectangle inside;  ///< its points that have no neighbour on another rank; counted in the strip
  Field x = {};      ///< solution
  Field r = {};      ///< residual
  Field p = {};      ///< search direction
  Field q = {};      ///< A p; pipelined: A w
  Field s = {};      ///< pipelined: A p
  Field z = {};      ///< pipelined: A s
  Field w = {};      ///< pipelined: A r

  std::int64_t rows() const { return place.rows.size(); }
  std::int64_t cols() const { return place.cols.size(); }
  /// Whether the column beyond the first or last one is the boundary, where all vectors are 0.
  bool west_closed() const { return inside.cols.begin == 0; }
  bool east_closed() const { return inside.cols.end == cols(); }
};

// Textbook: one vector operation each, on `count` points.

/// The sum of a[j] b[j].
double dot(const double* a, const double* b, std::int64_t count);
/// y += factor x
void add(double* y, double factor, const double* x, std::int64_t count);
/// p = r + beta p
void turn(double* p, const double* r, double beta, std::int64_t count);
/// q = A p on the columns `cols` of one row.
void multiply(const Field& q, const Field& p, std::int64_t row, Range cols);
/// The same with the row and its neighbours given one by one.
void multiply(double* result, const double* above, const double* middle, const double* below,
              Range cols);

// Pipelined: all vector updates of an iteration in one loop.

/// What one row adds to the inner products of the new r and w.
struct RenewSums {
  double residual = 0;  ///< to (r, r)
  double coupling = 0;  ///< to (w, r)
};

/// z = q + beta z, s = w + beta s, p = r + beta p; then x += alpha p, r -= alpha s, w -= alpha z.
RenewSums renew(const Strip& strip, std::int64_t row, double alpha, double beta);

// Fused: all vector operations of an iteration in one pass over the rows.

/// The scalars of one sweep: p = r + beta p, then r -= alpha A p.
struct Step {
  double alpha = 0;
  double beta = 0;
  /// Where set, x += previous_alpha p_old + alpha p as well: x lags by an iteration, then catches
  /// up on two.
  bool solution = false;
  double previous_alpha = 0;
};

/// What one row adds to the inner products of the new r.
struct RowSums {
  double residual = 0;  ///< to (r, r)
  double coupling = 0;  ///< to (r, A p)
  /// To (r, A r), which is the sum of (r_a - r_b)^2 over all edges a-b of the grid, the boundary's
  /// included: no cancellation. For row i of a sweep that goes down: the edges between it and the
  /// row above, and those to the right of the points of the row above.
  double edges = 0;
};

/// The strip with its rows of x, r and p counted from the last one up, so that a sweep over it goes
/// upwards.
Strip upside_down(const Strip& strip);
/// p, and x where the step says so, on row i (halo rows too); to be done for rows -1 and 0 before
/// advance() is called for rows 0, 1, 2 ... in turn.
void advance_direction(const Strip& strip, std::int64_t i, const Step& step);
/// p and x on row i + 1, then r on row i. A step of zero leaves x and r as they are: called for the
/// halo row below the last one, it gives the edges between the two.
RowSums advance(const Strip& strip, std::int64_t i, const Step& step);
/// advance() of all rows, to the same values, but in blocks of columns whose rows stay in the first
/// cache: each begins further to the left in each row, so that values of the row above are there.
/// Calls done(row, its sums) when a row is complete.
void advance_rows(const Strip& strip, const Step& step,
                  const std::function<void(std::int64_t, const RowSums&)>& done);
/// What advance() will make of r at `count` points from (row, col), one below the other if
/// `downwards`, else side by side: needed early, to be sent. Changes nothing but `out`.
void foresee(const Strip& strip, std::int64_t row, std::int64_t col, bool downwards,
             std::int64_t count, const Step& step, double* out);

}  // namespace halobench

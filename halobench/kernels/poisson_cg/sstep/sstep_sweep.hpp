// SPDX-License-Identifier: BSD-3-Clause
// The loops of s-step CG over one strip: s iterations in one pass, and inner products of powers of
// A.
#pragma once

#include <vector>

#include "machine/memory.hpp"
#include "numerics/poisson/sstep_rows.hpp"

namespace halobench::cg {

/// A wave of rows: each level (an iteration, a power of A) works one or two rows behind the last,
/// so that memory is passed over once. Alive at a time are some 7 s rows of a strip: 112 KiB at s =
/// 2 and 1024 points a row, which a core's second cache holds; longer rows go through the third.
/// Tiles of fewer columns, to fit the first or the second cache, were slower at every width that
/// was tried: memory is read ahead along long rows better than along short ones.
///
/// Every level covers the strip and 2 s points of halo around it. What lies within l points of the
/// halo's rim is wrong after l levels, and only ever used there.
class SstepSweep {
 public:
  /// A strip of a grid of n x n points, with a halo of 2 s points.
  SstepSweep(Memory& memory, const Strip& strip, std::int64_t n, std::int64_t s);

  /// The iterations of `pairs`, in one pass. Then, unless `sums` is null, each row's part of the
  /// moments of r: `sums` has `width` numbers a row. See moments_of_residual().
  void advance(const std::vector<TwoIterations>& pairs, double* sums, std::int64_t width) const;
  /// Each row's part of all moments: those of r, the mixed ones, those of p, 2 s numbers each.
  void measure(double* sums, std::int64_t width) const;
  /// Turns the total of what advance() left into moments of r: the last one comes in parts.
  static void finish(double* total, std::int64_t s);

  /// Doubles of memory of its own that a strip needs.
  static std::int64_t memory(const Rectangle& place, std::int64_t s);

 private:
  /// The strip's own rows or columns, and `depth` more where the grid goes on.
  Range reach(Range place, std::int64_t depth) const;
  void clear_rings() const;
  void raise_r(std::int64_t power, std::int64_t row, double* sums, std::int64_t width) const;
  void raise_r_and_p(std::int64_t power, std::int64_t row, double* sums, std::int64_t width) const;
  /// A row of A^power r or A^power p.
  double* r(std::int64_t power, std::int64_t row) const;
  double* p(std::int64_t power, std::int64_t row) const;
  /// Makes a row 0 and returns true if it lies beyond the boundary.
  bool beyond(std::int64_t row, double* values) const;

  Strip strip_;
  std::int64_t n_;
  std::int64_t s_;
  Buffer<double> memory_;
  std::vector<Ring> directions_;  // the first one of each pair of iterations
  std::vector<Ring> powers_of_r_;
  std::vector<Ring> powers_of_p_;
};

}  // namespace halobench::cg

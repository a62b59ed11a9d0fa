// SPDX-License-Identifier: BSD-3-Clause
// The scalars of s iterations of CG from inner products of powers of A, known before any of them.
#pragma once

#include <cstddef>
#include <vector>

namespace halobench {

/// Inner products with powers of A, of the residual r and the last direction p. Index l stands for
/// A^l, l = 0 ... 2 s - 1. Where only `residual` was measured, the other two are empty.
struct Moments {
  std::vector<double> residual;   ///< (r, A^l r)
  std::vector<double> mixed;      ///< (r, A^l p)
  std::vector<double> direction;  ///< (p, A^l p); index 0 is not used
};

/// The method's scalars, those of the iterations done and of the s to come. In extended precision:
/// powers of A are nearly parallel.
class SstepScalars {
 public:
  /// No eigenvalue of A is larger than `largest_eigenvalue`.
  SstepScalars(std::size_t s, double largest_eigenvalue);

  /// Finds the scalars of the next s iterations; false where rounding has spoilt the moments: a
  /// value that must be positive isn't, or one of the diagonal of Lanczos' matrix is outside A's
  /// spectrum.
  bool find(const Moments& moments);
  /// The iterations found, but only `count` of them, were done.
  void done(std::size_t count);

  /// Iteration j of those found: p = r + beta p, r -= alpha A p, and (r, r) before it.
  double alpha(std::size_t j) const { return static_cast<double>(now_[j].alpha); }
  double beta(std::size_t j) const { return static_cast<double>(now_[j].beta); }
  double residual(std::size_t j) const { return static_cast<double>(now_[j].residual); }
  /// beta of the next iteration, given (r, r): 0 before the first one.
  double next_beta(double residual) const;

 private:
  using Real = long double;

  struct Iteration {
    Real alpha = 0;
    Real beta = 0;
    Real residual = 0;
  };

  bool plausible(const Iteration& now, const Iteration& last) const;
  bool from_residual(const std::vector<double>& moments);
  bool from_all(const Moments& moments);
  /// The iteration `back` before the next one; all 0 where there was none.
  Iteration past(std::size_t back) const;

  std::size_t s_;
  Real largest_eigenvalue_;
  std::vector<Iteration> past_;  // the last s + 1, the newest at the end
  std::vector<Iteration> now_;
};

}  // namespace halobench

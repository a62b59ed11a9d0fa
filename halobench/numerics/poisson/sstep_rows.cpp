// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/poisson/sstep_rows.hpp"

namespace halobench {
namespace {

constexpr std::int64_t line = 8;  // doubles in a cache line

/// advance_pair() for rows where the first, the second or both iterations are at work.
template <bool first, bool second>
void pair_row(const Strip& strip, const Ring& ring, std::int64_t i, Range cols,
              const TwoIterations& pair) {
  double* __restrict d_below = ring.row(i + 1);
  const double* __restrict d = ring.row(i);
  const double* __restrict d_above = ring.row(i - 1);
  double* __restrict x = strip.x.row(i);
  const double* __restrict r_below = strip.r.row(i + 1);
  double* __restrict r = strip.r.row(i);
  double* __restrict r_above = strip.r.row(i - 1);
  const double* __restrict p_below = strip.p.row(i + 1);
  double* __restrict p = strip.p.row(i);
  const double* __restrict p_above = strip.p.row(i - 1);
  const double* __restrict p_above2 = strip.p.row(i - 2);
  const auto [alpha0, beta0, alpha1, beta1] = pair;
  const auto point = [&](std::int64_t j) {
    double below = 0;
    if constexpr (first || !second) {  // else this is the row after the last
      below = r_below[j] + beta0 * p_below[j];
      d_below[j] = below;
    }
    double p_here = p[j];
    if constexpr (first) {
      const double q = 4.0 * d[j] - d_above[j] - below - d[j - 1] - d[j + 1];
      const double r_here = r[j] - alpha0 * q;
      p_here = r_here + beta1 * d[j];
      r[j] = r_here;
      p[j] = p_here;
      x[j] += alpha0 * d[j] + alpha1 * p_here;
    }
    if constexpr (second) {
      r_above[j] -=
          alpha1 * (4.0 * p_above[j] - p_above2[j] - p_here - p_above[j - 1] - p_above[j + 1]);
    }
  };
  // Line by line: the compiler then addresses neighbours by constant offsets. One loop over all
  // columns needs more pointers than there are registers, and takes a fifth longer.
  std::int64_t begin = cols.begin;
  for (; begin + line <= cols.end; begin += line) {
#pragma omp simd
    for (std::int64_t j = begin; j < begin + line; ++j) point(j);
  }
  for (; begin < cols.end; ++begin) point(begin);
}

}  // namespace

void advance_pair(const Strip& strip, const Ring& d, std::int64_t i, Range rows, Range cols,
                  const TwoIterations& pair) {
  const bool first = rows.contains(i);
  const bool second = rows.contains(i - 1);
  if (first && second) {
    pair_row<true, true>(strip, d, i, cols, pair);
  } else if (first) {
    pair_row<true, false>(strip, d, i, cols, pair);
  } else if (second) {
    pair_row<false, true>(strip, d, i, cols, pair);
  } else {
    pair_row<false, false>(strip, d, i, cols, pair);
  }
}

PowerSums raise(double* t, const double* t_above, const double* above, const double* middle,
                const double* below, std::int64_t count) {
  double self = 0;
  double cross = 0;
  double next = 0;
  double bonds = 0;
#pragma omp simd reduction(+ : self, cross, next, bonds)
  for (std::int64_t j = 0; j < count; ++j) {
    const double v = middle[j];
    const double product = 4.0 * v - above[j] - below[j] - middle[j - 1] - middle[j + 1];
    t[j] = product;
    self += v * v;
    cross += v * product;
    next += product * product;
    bonds += t_above[j] * (product + t_above[j - 1]);
  }
  return {self, cross, next, bonds};
}

GramSums raise_both(double* u1, double* v1, const double* const* u, const double* const* v,
                    std::int64_t count) {
  const double* u_above = u[0];
  const double* u_here = u[1];
  const double* u_below = u[2];
  const double* v_above = v[0];
  const double* v_here = v[1];
  const double* v_below = v[2];
  double uu1 = 0;
  double u1u1 = 0;
  double uv1 = 0;
  double u1v1 = 0;
  double vv1 = 0;
  double v1v1 = 0;
#pragma omp simd reduction(+ : uu1, u1u1, uv1, u1v1, vv1, v1v1)
  for (std::int64_t j = 0; j < count; ++j) {
    const double au = 4.0 * u_here[j] - u_above[j] - u_below[j] - u_here[j - 1] - u_here[j + 1];
    const double av = 4.0 * v_here[j] - v_above[j] - v_below[j] - v_here[j - 1] - v_here[j + 1];
    u1[j] = au;
    v1[j] = av;
    uu1 += u_here[j] * au;
    u1u1 += au * au;
    uv1 += u_here[j] * av;
    u1v1 += au * av;
    vv1 += v_here[j] * av;
    v1v1 += av * av;
  }
  return {uu1, u1u1, uv1, u1v1, vv1, v1v1};
}

}  // namespace halobench

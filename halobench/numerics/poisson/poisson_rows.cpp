// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/poisson/poisson_rows.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include "base/as_size.hpp"
#include "base/prefetch.hpp"

namespace halobench {
namespace {

/// a b + c, always rounded alike on one machine: advance() and foresee() must agree to the last
/// bit, which a compiler free to contract one of them and not the other would break. For the same
/// reason both add up the neighbours above and below first: whichever of them comes first in a
/// sweep.
inline double multiply_add(double a, double b, double c) {
#ifdef __FP_FAST_FMA
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

constexpr std::int64_t together = 8;  ///< columns that are advanced side by side

/// The inner products of a row, each in sums side by side.
struct LaneSums {
  std::array<double, together> residual{};
  std::array<double, together> coupling{};
  std::array<double, together> vertical{};
  std::array<double, together> horizontal{};
};

template <bool solution>
RowSums advance_row(const Strip& strip, std::int64_t i, const Step& step) {
  const auto [alpha, beta, unused, previous_alpha] = step;
  const std::int64_t cols = strip.cols();
  double* x = strip.x.row(i + 1);
  double* p_below = strip.p.row(i + 1);
  const double* p = strip.p.row(i);
  const double* p_above = strip.p.row(i - 1);
  const double* r_below = strip.r.row(i + 1);
  double* r = strip.r.row(i);
  const double* r_above = strip.r.row(i - 1);
  LaneSums sums;
  const auto advance_column = [&](std::int64_t j, std::size_t lane) {
    const double old = p_below[j];
    const double below = multiply_add(beta, old, r_below[j]);
    p_below[j] = below;
    if constexpr (solution) {
      x[j] = multiply_add(alpha, below, multiply_add(previous_alpha, old, x[j]));
    }
    const double product = 4.0 * p[j] - (p_above[j] + below) - (p[j - 1] + p[j + 1]);
    const double next = multiply_add(-alpha, product, r[j]);
    r[j] = next;
    const double down = next - r_above[j];
    const double right = r_above[j + 1] - r_above[j];
    sums.residual[lane] += next * next;
    sums.coupling[lane] += next * product;
    sums.vertical[lane] += down * down;
    sums.horizontal[lane] += right * right;
  };
  std::int64_t j = 0;
  const auto advance_to = [&](std::int64_t end, std::int64_t distance) {
    for (; j + together <= end; j += together) {
      prefetch_line<Soon::write>(r_below + j + distance);
      prefetch_line<Soon::write>(p_below + j + distance);
      if constexpr (solution) prefetch_line<Soon::write>(x + j + distance);
#pragma omp simd
      for (std::int64_t lane = 0; lane < together; ++lane) advance_column(j + lane, as_size(lane));
    }
  };
  advance_to(cols - values_ahead, values_ahead);
  advance_to(cols, values_ahead - cols + strip.r.stride);  // where the next row begins
  for (; j < cols; ++j) advance_column(j, 0);
  const auto total = [](const auto& of) { return std::accumulate(of.begin(), of.end(), 0.0); };
  return {total(sums.residual), total(sums.coupling),
          total(sums.vertical) + total(sums.horizontal)};
}

}  // namespace

double dot(const double* a, const double* b, std::int64_t count) {
  // Sums side by side: a single one would wait for its own last addition.
  constexpr std::int64_t lanes = 16;
  std::array<double, lanes> sums{};
  std::int64_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      sums[as_size(lane)] += a[j + lane] * b[j + lane];
    }
  }
  double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  for (; j < count; ++j) sum += a[j] * b[j];
  return sum;
}

void add(double* y, double factor, const double* x, std::int64_t count) {
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) y[j] += factor * x[j];
}

void turn(double* p, const double* r, double beta, std::int64_t count) {
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) p[j] = r[j] + beta * p[j];
}

void multiply(const Field& q, const Field& p, std::int64_t row, Range cols) {
  multiply(q.row(row), p.row(row - 1), p.row(row), p.row(row + 1), cols);
}

void multiply(double* result, const double* above, const double* middle, const double* below,
              Range cols) {
#pragma omp simd
  for (std::int64_t j = cols.begin; j < cols.end; ++j) {
    result[j] = 4.0 * middle[j] - above[j] - below[j] - middle[j - 1] - middle[j + 1];
  }
}

RenewSums renew(const Strip& strip, std::int64_t row, double alpha, double beta) {
  const double* q = strip.q.row(row);
  double* x = strip.x.row(row);
  double* r = strip.r.row(row);
  double* p = strip.p.row(row);
  double* s = strip.s.row(row);
  double* z = strip.z.row(row);
  double* w = strip.w.row(row);
  double residual = 0;
  double coupling = 0;
#pragma omp simd reduction(+ : residual, coupling)
  for (std::int64_t j = 0; j < strip.cols(); ++j) {
    z[j] = q[j] + beta * z[j];
    s[j] = w[j] + beta * s[j];
    p[j] = r[j] + beta * p[j];
    x[j] += alpha * p[j];
    r[j] -= alpha * s[j];
    w[j] -= alpha * z[j];
    residual += r[j] * r[j];
    coupling += w[j] * r[j];
  }
  return {residual, coupling};
}

Strip upside_down(const Strip& strip) {
  Strip turned = strip;
  for (Field* field : {&turned.x, &turned.r, &turned.p}) {
    *field = {field->row(strip.rows() - 1), -field->stride};
  }
  return turned;
}

void advance_direction(const Strip& strip, std::int64_t i, const Step& step) {
  double* x = strip.x.row(i);
  double* p = strip.p.row(i);
  const double* r = strip.r.row(i);
  for (std::int64_t j = -1; j <= strip.cols(); ++j) {
    const double old = p[j];
    p[j] = multiply_add(step.beta, old, r[j]);
    if (step.solution)
      x[j] = multiply_add(step.alpha, p[j], multiply_add(step.previous_alpha, old, x[j]));
  }
}

RowSums advance(const Strip& strip, std::int64_t i, const Step& step) {
  const std::int64_t cols = strip.cols();
  double* p = strip.p.row(i + 1);
  const double* r_below = strip.r.row(i + 1);
  for (const std::int64_t halo : {std::int64_t{-1}, cols}) {
    p[halo] = multiply_add(step.beta, p[halo], r_below[halo]);
  }
  auto sums =
      step.solution ? advance_row<true>(strip, i, step) : advance_row<false>(strip, i, step);
  double* r = strip.r.row(i);
  const double first = strip.r.row(i - 1)[0];
  if (strip.west_closed()) sums.edges += first * first;
  // An edge to the east that leaves this rank is counted when the neighbour's value has come.
  if (!strip.east_closed()) r[cols] = r[cols - 1];
  return sums;
}

void foresee(const Strip& strip, std::int64_t row, std::int64_t col, bool downwards,
             std::int64_t count, const Step& step, double* out) {
  const double* r = strip.r.row(row) + col;
  const double* p = strip.p.row(row) + col;
  const std::int64_t down = strip.r.stride;
  const std::int64_t along = downwards ? down : 1;
  const auto turned = [&](std::int64_t k) { return multiply_add(step.beta, p[k], r[k]); };
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t at = k * along;
    const double product = 4.0 * turned(at) - (turned(at - down) + turned(at + down)) -
                           (turned(at - 1) + turned(at + 1));
    out[k] = multiply_add(-step.alpha, product, r[at]);
  }
}

}  // namespace halobench

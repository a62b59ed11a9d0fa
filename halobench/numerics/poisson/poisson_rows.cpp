// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/poisson/poisson_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/as_size.hpp"
#include "base/prefetch.hpp"
#include "numerics/vectors.hpp"

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

using Doubles = Values<double>;
constexpr std::int64_t size = Vector<double>::size;

inline Doubles multiply_add(const Doubles& a, const Doubles& b, const Doubles& c) {
  Doubles result;
  for (std::int64_t i = 0; i < size; ++i) result[i] = multiply_add(a[i], b[i], c[i]);
  return result;
}

constexpr std::int64_t together = 8;  ///< columns that are advanced side by side
/// Columns of a block of advance_rows(): seven rows of them stay in a first cache of 32 KiB.
constexpr std::int64_t block = 512;
/// By how many columns a block moves to the left from one row to the next, so that what it needs
/// to the right in the row above is there.
constexpr std::int64_t slope = together;

/// An inner product of a row, in sums side by side.
class LaneSum {
 public:
  /// Of the columns from the `part`-th vector of those side by side.
  void add(std::int64_t part, const Doubles& terms) { parts_[as_size(part)] += terms; }
  void add(double term) { parts_[0][0] += term; }
  double total() const {
    double sum = 0;
    for (const auto& part : parts_) {
      for (std::int64_t i = 0; i < size; ++i) sum += part[i];
    }
    return sum;
  }

 private:
  std::array<Doubles, together / size> parts_{};
};

/// Of a row that is advanced piece by piece.
struct RowLanes {
  LaneSum residual;
  LaneSum coupling;
  LaneSum vertical;
  LaneSum horizontal;
};

/// Columns of one row, the first a multiple of `together`. Neighbours within a row are shuffled in
/// registers: half of the loads are saved.
template <bool solution>
void advance_columns(const Strip& strip, std::int64_t i, Range columns, const Step& step,
                     RowLanes& lanes) {
  const auto [alpha, beta, unused, previous_alpha] = step;
  double* x = strip.x.row(i + 1);
  double* p_below = strip.p.row(i + 1);
  const double* p = strip.p.row(i);
  const double* p_above = strip.p.row(i - 1);
  const double* r_below = strip.r.row(i + 1);
  double* r = strip.r.row(i);
  const double* r_above = strip.r.row(i - 1);
  RowLanes sums = lanes;
  const Doubles alphas = repeated(alpha);
  const Doubles minus_alphas = repeated(-alpha);
  const Doubles betas = repeated(beta);
  const Doubles previous_alphas = repeated(previous_alpha);
  std::int64_t j = columns.begin;
  Doubles left = load(p + j - size);
  Doubles here = load(p + j);
  Doubles above = load(r_above + j);
  const auto advance_vector = [&](std::int64_t part) {
    const auto at = j + part * size;
    const Doubles old = load(p_below + at);
    const Doubles below = multiply_add(betas, old, load(r_below + at));
    store(p_below + at, below);
    if constexpr (solution) {
      store(x + at, multiply_add(alphas, below, multiply_add(previous_alphas, old, load(x + at))));
    }
    const Doubles right = load(p + at + size);
    const Doubles beside =
        left_neighbours<double>(left, here) + right_neighbours<double>(here, right);
    const Doubles product = 4.0 * here - (load(p_above + at) + below) - beside;
    const Doubles next = multiply_add(minus_alphas, product, load(r + at));
    store(r + at, next);
    const Doubles above_right = load(r_above + at + size);
    const Doubles down = next - above;
    const Doubles along = right_neighbours<double>(above, above_right) - above;
    sums.residual.add(part, next * next);
    sums.coupling.add(part, next * product);
    sums.vertical.add(part, down * down);
    sums.horizontal.add(part, along * along);
    left = here;
    here = right;
    above = above_right;
  };
  const auto advance_column = [&] {
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
    const double along = r_above[j + 1] - r_above[j];
    sums.residual.add(next * next);
    sums.coupling.add(next * product);
    sums.vertical.add(down * down);
    sums.horizontal.add(along * along);
  };
  const auto next_row = strip.r.stride - slope;
  for (; j + together <= columns.end; j += together) {
    prefetch_line<Soon::write>(r_below + j + next_row);
    prefetch_line<Soon::write>(p_below + j + next_row);
    if constexpr (solution) prefetch_line<Soon::write>(x + j + next_row);
#pragma GCC unroll 4
    for (std::int64_t part = 0; part < together / size; ++part) advance_vector(part);
  }
  for (; j < columns.end; ++j) advance_column();
  lanes = sums;
}

/// p and x on row i + 1, then r on row i, of some columns.
void advance_piece(const Strip& strip, std::int64_t i, Range columns, const Step& step,
                   RowLanes& lanes) {
  double* p = strip.p.row(i + 1);
  const double* r_below = strip.r.row(i + 1);
  const auto turn_halo = [&](std::int64_t j) { p[j] = multiply_add(step.beta, p[j], r_below[j]); };
  if (columns.begin == 0) turn_halo(-1);
  if (columns.end == strip.cols()) turn_halo(columns.end);
  step.solution ? advance_columns<true>(strip, i, columns, step, lanes)
                : advance_columns<false>(strip, i, columns, step, lanes);
}

/// What is left to do for a row when all its pieces are advanced.
RowSums finish_row(const Strip& strip, std::int64_t i, const RowLanes& lanes) {
  RowSums sums{lanes.residual.total(), lanes.coupling.total(),
               lanes.vertical.total() + lanes.horizontal.total()};
  const double first = strip.r.row(i - 1)[0];
  if (strip.west_closed()) sums.edges += first * first;
  // An edge to the east that leaves this rank is counted when the neighbour's value has come.
  const auto cols = strip.cols();
  if (!strip.east_closed()) strip.r.row(i)[cols] = strip.r.row(i)[cols - 1];
  return sums;
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
  RowLanes lanes;
  advance_piece(strip, i, {0, strip.cols()}, step, lanes);
  return finish_row(strip, i, lanes);
}

void advance_rows(const Strip& strip, const Step& step,
                  const std::function<void(std::int64_t, const RowSums&)>& done) {
  const auto rows = strip.rows();
  const auto cols = strip.cols();
  const auto width = cols > block ? block : cols + slope * rows;  // one block: whole rows
  std::vector<RowLanes> lanes(as_size(cols / slope + 2));         // of the rows not yet done
  for (std::int64_t begin = 0; begin < cols + slope * (rows - 1); begin += width) {
    const auto end = begin + width;
    const auto first = std::max<std::int64_t>(0, (begin - cols) / slope);
    for (auto i = first; i < rows && slope * i < end; ++i) {
      const Range columns{std::max<std::int64_t>(0, begin - slope * i),
                          std::min(end - slope * i, cols)};
      if (columns.size() <= 0) continue;
      auto& own = lanes[as_size(i) % lanes.size()];
      if (columns.begin == 0) own = {};
      advance_piece(strip, i, columns, step, own);
      if (columns.end == cols) done(i, finish_row(strip, i, own));
    }
  }
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

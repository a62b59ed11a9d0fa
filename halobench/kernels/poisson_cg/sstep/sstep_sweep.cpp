// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/poisson_cg/sstep/sstep_sweep.hpp"

#include <algorithm>
#include <array>

#include "base/as_size.hpp"

namespace halobench::cg {
namespace {

Layout ring_layout(const Rectangle& place, std::int64_t s) {
  return Layout({{0, 4}, place.cols}, 2 * s);
}

std::int64_t ring_count(std::int64_t s) { return s / 2 + 2 * s; }

}  // namespace

std::int64_t SstepSweep::memory(const Rectangle& place, std::int64_t s) {
  return ring_count(s) * ring_layout(place, s).size();
}

SstepSweep::SstepSweep(Memory& memory, const Strip& strip, std::int64_t n, std::int64_t s)
    : strip_(strip),
      n_(n),
      s_(s),
      memory_(memory.allocate<double>(SstepSweep::memory(strip.place, s))) {
  const auto layout = ring_layout(strip.place, s);
  double* free = memory_.data();
  const auto take = [&](std::vector<Ring>& rings, std::int64_t count) {
    for (; count > 0; --count, free += layout.size()) {
      const auto field = layout.field(free);
      rings.push_back({field.first, field.stride});
    }
  };
  take(directions_, s / 2);
  take(powers_of_r_, s);
  take(powers_of_p_, s);
}

void SstepSweep::clear_rings() const { std::ranges::fill(memory_.span(), 0.0); }

Range SstepSweep::reach(Range place, std::int64_t depth) const {
  return {place.begin == 0 ? 0 : -depth, place.size() + (place.end == n_ ? 0 : depth)};
}

void SstepSweep::advance(const std::vector<TwoIterations>& pairs, double* sums,
                         std::int64_t width) const {
  clear_rings();
  const auto rows = reach(strip_.place.rows, 2 * s_);
  const auto cols = reach(strip_.place.cols, 2 * s_);
  const auto behind = 2 * (std::ssize(pairs) - 1);  // how far the last pair is behind the first
  for (std::int64_t i = rows.begin - 1; i <= rows.end + behind + s_; ++i) {
    for (std::int64_t k = 0; k < std::ssize(pairs); ++k) {
      const auto at = as_size(k);
      const std::int64_t row = i - 2 * k;
      if (row < rows.begin - 1 || row > rows.end) continue;
      advance_pair(strip_, directions_[at], row, rows, cols, pairs[at]);
    }
    if (sums == nullptr) continue;
    for (std::int64_t k = 1; k < s_; ++k) raise_r(k, i - behind - 1 - k, sums, width);
  }
}

void SstepSweep::measure(double* sums, std::int64_t width) const {
  clear_rings();
  const auto rows = reach(strip_.place.rows, s_);
  for (std::int64_t i = rows.begin; i <= rows.end + s_; ++i) {
    for (std::int64_t k = 1; k <= s_; ++k) raise_r_and_p(k, i + 1 - k, sums, width);
  }
}

double* SstepSweep::r(std::int64_t power, std::int64_t row) const {
  return power == 0 ? strip_.r.row(row) : powers_of_r_[as_size(power - 1)].row(row);
}

double* SstepSweep::p(std::int64_t power, std::int64_t row) const {
  return power == 0 ? strip_.p.row(row) : powers_of_p_[as_size(power - 1)].row(row);
}

bool SstepSweep::beyond(std::int64_t row, double* values) const {
  if (row < strip_.rows() || strip_.place.rows.end < n_) return false;
  const auto cols = reach(strip_.place.cols, s_);
  std::fill_n(values + cols.begin, cols.size(), 0.0);
  return true;
}

void SstepSweep::raise_r(std::int64_t power, std::int64_t row, double* sums,
                         std::int64_t width) const {
  const auto rows = reach(strip_.place.rows, s_);
  const auto cols = reach(strip_.place.cols, s_);
  if (row < rows.begin || row > rows.end) return;
  double* to = r(power, row);
  const double* last = r(power, row - 1);
  const std::array from{r(power - 1, row - 1), r(power - 1, row), r(power - 1, row + 1)};
  PowerSums found;
  if (beyond(row, to)) {
    found.bonds = dot(last, last - 1, strip_.cols());
  } else {
    multiply(to, from[0], from[1], from[2], {cols.begin, 0});
    multiply(to, from[0], from[1], from[2], {strip_.cols(), cols.end});
    found = raise(to, last, from[0], from[1], from[2], strip_.cols());
  }
  const Range own{0, strip_.rows()};
  if (own.contains(row)) {
    double* here = sums + row * width;
    if (power == 1) here[0] = found.self;
    here[2 * power - 1] = found.cross;
    here[2 * power] = found.next;
  }
  // A row's bonds are complete when the row below it is there.
  if (power == s_ - 1 && own.contains(row - 1)) sums[(row - 1) * width + 2 * s_ - 1] = found.bonds;
}

void SstepSweep::finish(double* total, std::int64_t s) {
  total[2 * s - 1] = 4 * total[2 * s - 2] - 2 * total[2 * s - 1];
}

void SstepSweep::raise_r_and_p(std::int64_t power, std::int64_t row, double* sums,
                               std::int64_t width) const {
  const auto rows = reach(strip_.place.rows, s_);
  const auto cols = reach(strip_.place.cols, s_);
  if (row < rows.begin || row > rows.end) return;
  double* to_r = r(power, row);
  double* to_p = p(power, row);
  if (beyond(row, to_r)) {
    beyond(row, to_p);
    return;
  }
  const std::array from_r{r(power - 1, row - 1), r(power - 1, row), r(power - 1, row + 1)};
  const std::array from_p{p(power - 1, row - 1), p(power - 1, row), p(power - 1, row + 1)};
  for (const Range rim : {Range{cols.begin, 0}, Range{strip_.cols(), cols.end}}) {
    multiply(to_r, from_r[0], from_r[1], from_r[2], rim);
    multiply(to_p, from_p[0], from_p[1], from_p[2], rim);
  }
  const auto found = raise_both(to_r, to_p, from_r.data(), from_p.data(), strip_.cols());
  if (row < 0 || row >= strip_.rows()) return;
  double* residual = sums + row * width;
  double* mixed = residual + 2 * s_;
  double* direction = mixed + 2 * s_;
  if (power == 1) {
    residual[0] = dot(from_r[1], from_r[1], strip_.cols());
    mixed[0] = dot(from_r[1], from_p[1], strip_.cols());
  }
  residual[2 * power - 1] = found.uu1;
  mixed[2 * power - 1] = found.uv1;
  direction[2 * power - 1] = found.vv1;
  if (power == s_) return;
  residual[2 * power] = found.u1u1;
  mixed[2 * power] = found.u1v1;
  direction[2 * power] = found.v1v1;
}

}  // namespace halobench::cg

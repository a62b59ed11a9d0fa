// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/poisson/poisson.hpp"

#include <cmath>
#include <numbers>

#include "base/as_size.hpp"

namespace halobench {
namespace {

using std::numbers::pi;

/// Evenly distributed in [-1, 1), a function of the index alone (the finaliser of splitmix64).
double scattered(std::uint64_t index) {
  index += 0x9e3779b97f4a7c15U;
  index = (index ^ (index >> 30U)) * 0xbf58476d1ce4e5b9U;
  index = (index ^ (index >> 27U)) * 0x94d049bb133111ebU;
  index ^= index >> 31U;
  return static_cast<double>(index >> 11U) * 0x1p-52 - 1.0;
}

}  // namespace

Poisson::Poisson(std::int64_t n, RightSide kind)
    : n_(n), kind_(kind), h_(1.0 / static_cast<double>(n + 1)), scale_(-2.0 * pi * pi * h_ * h_) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i + 1) * h_;
    sin2_.push_back(std::sin(pi * x) * std::sin(pi * x));
    cos_2pi_.push_back(std::cos(2.0 * pi * x));
  }
}

double Poisson::right_side(std::int64_t row, std::int64_t col) const {
  if (kind_ == RightSide::random) return scattered(static_cast<std::uint64_t>(row * n_ + col));
  if (kind_ == RightSide::point) return row == n_ / 3 && col == n_ / 2 ? 1.0 : 0.0;
  return scale_ * (cos_2pi_[as_size(col)] * sin2_[as_size(row)] +
                   sin2_[as_size(col)] * cos_2pi_[as_size(row)]);
}

}  // namespace halobench

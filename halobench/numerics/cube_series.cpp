// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/cube_series.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/as_size.hpp"

namespace halobench {
namespace {

constexpr std::int64_t most_squares = 625;
constexpr std::size_t odd_numbers = 12;  ///< up to 23

double odd(std::size_t index) { return static_cast<double>(2 * index + 1); }

/// sinh(l x) / sinh(l), for large l too.
double falling(double l, double x) {
  return std::exp(l * (x - 1)) * std::expm1(-2 * l * x) / std::expm1(-2 * l);
}

/// sin(p pi i / elements) for each odd p, at each node i.
std::vector<std::vector<double>> sines(std::int64_t elements) {
  std::vector<std::vector<double>> all;
  for (std::size_t p = 0; p < odd_numbers; ++p) {
    auto& values = all.emplace_back();
    for (std::int64_t node = 0; node <= elements; ++node) {
      const double at = static_cast<double>(node) / static_cast<double>(elements);
      values.push_back(std::sin(odd(p) * std::numbers::pi * at));
    }
  }
  return all;
}

}  // namespace

CubeSeries::CubeSeries(const Extents& elements) : sines_{sines(elements[1]), sines(elements[2])} {
  constexpr double pi = std::numbers::pi;
  for (std::size_t p = 0; p < odd_numbers; ++p) {
    for (std::size_t q = 0; q < odd_numbers; ++q) {
      const double squares = odd(p) * odd(p) + odd(q) * odd(q);
      if (squares >= most_squares) continue;
      terms_.push_back({p, q});
      auto& factors = factors_.emplace_back();
      for (std::int64_t node = 0; 2 * node <= elements[0]; ++node) {
        const double x = static_cast<double>(node) / static_cast<double>(elements[0]);
        factors.push_back(16 / (pi * pi * odd(p) * odd(q)) * falling(pi * std::sqrt(squares), x));
      }
    }
  }
}

void CubeSeries::line(std::int64_t begin, std::int64_t count, std::int64_t y, std::int64_t z,
                      double* values) const {
  std::fill_n(values, count, 0.0);
  for (std::size_t term = 0; term < terms_.size(); ++term) {
    const double beside = sines_[0][terms_[term].p][as_size(y)];
    const double factor = beside * sines_[1][terms_[term].q][as_size(z)];
    const double* along_x = factors_[term].data() + begin;
    for (std::int64_t i = 0; i < count; ++i) values[i] += factor * along_x[i];
  }
}

}  // namespace halobench

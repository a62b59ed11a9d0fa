// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fft_pencil/fields.hpp"

#include <cmath>
#include <numbers>

#include "base/as_size.hpp"
#include "numerics/hash.hpp"

namespace halobench::fft {
namespace {

/// Of the waves: no two alike, so that places that were mixed up are seen.
constexpr std::array amplitudes{1.0, 0.5, 0.25};

Place opposite(const Place& k, const Extents& size) {
  Place negative{};
  for (std::size_t axis = 0; axis < k.size(); ++axis) {
    negative[axis] = (size[axis] - k[axis]) % size[axis];
  }
  return negative;
}

}  // namespace

double gaussian(std::int64_t index) {
  const double radius = std::sqrt(-2 * std::log(unit_interval(hash(index, 0))));
  return radius * std::cos(2 * std::numbers::pi * unit_interval(hash(index, 1)));
}

Fields::Fields(const Extents& size)
    : size_(size),
      point_{size[0] / 3, size[1] / 2, size[2] - 1},
      waves_{{{1 % size[0], 2 % size[1], 3 % size[2]},
              {size[0] - 1, size[1] / 3, size[2] / 5},
              {size[0] / 2, 0, size[2] / 2}}} {
  for (std::size_t axis = 0; axis < size.size(); ++axis) {
    for (std::int64_t j = 0; j < size[axis]; ++j) {
      const auto part = static_cast<double>(j) / static_cast<double>(size[axis]);
      roots_[axis].push_back(std::polar(1.0, -2 * std::numbers::pi * part));
    }
  }
}

Complex Fields::root(const Place& k, const Place& at) const {
  Complex product = 1;
  for (std::size_t axis = 0; axis < k.size(); ++axis) {
    product *= roots_[axis][as_size(k[axis] * at[axis] % size_[axis])];
  }
  return product;
}

double Fields::point(const Place& at) const { return at == point_ ? 1 : 0; }

Complex Fields::point_spectrum(const Place& k) const { return root(k, point_); }

double Fields::waves(const Place& at) const {
  double sum = 0;
  for (std::size_t wave = 0; wave < waves_.size(); ++wave) {
    sum += amplitudes[wave] * root(waves_[wave], at).real();
  }
  return sum;
}

Complex Fields::waves_spectrum(const Place& k) const {
  const auto points = static_cast<double>(size_[0] * size_[1] * size_[2]);
  double sum = 0;
  for (std::size_t wave = 0; wave < waves_.size(); ++wave) {
    const double half = amplitudes[wave] * points / 2;
    if (k == waves_[wave]) sum += half;
    if (k == opposite(waves_[wave], size_)) sum += half;
  }
  return sum;
}

}  // namespace halobench::fft

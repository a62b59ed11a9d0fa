// SPDX-License-Identifier: BSD-3-Clause
// What a rank's values and spectrum should be, and how far they are from it.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/fft_pencil/fields.hpp"
#include "kernels/fft_pencil/store.hpp"
#include "numerics/largest.hpp"

namespace halobench::fft {

/// Sets the rank's real values: value(place) for each.
template <class Value>
void fill(const Store& store, const Value& value) {
  const auto& pencils = store.pencils();
  const auto planes = pencils.x(store.row());
  const auto rows = store.y();
#pragma omp parallel for
  for (auto x = planes.begin; x < planes.end; ++x) {
    auto* at = store.in() + (x - planes.begin) * rows.size() * pencils.size[2];
    for (auto y = rows.begin; y < rows.end; ++y) {
      for (std::int64_t z = 0; z < pencils.size[2]; ++z) *at++ = value(Place{x, y, z});
    }
  }
}

/// The largest modulus of a coefficient less expected(place), of this rank.
template <class Expected>
double spectrum_error(const Store& store, const Expected& expected) {
  const auto kz = store.kz();
  double most = 0;
#pragma omp parallel for reduction(max : most)
  for (std::int64_t x = 0; x < store.pencils().size[0]; ++x) {
    const auto* at = store.spectrum() + x * store.spectrum_plane();
    for (auto y = store.ky().begin; y < store.ky().end; ++y) {
      for (auto z = kz.begin; z < kz.end; ++z) {
        raise(most, std::abs(*at++ - expected(Place{x, y, z})));
      }
    }
  }
  return most;
}

/// Of this rank's real values: the largest modulus, the sum of moduli and of squares.
struct Norms {
  double most = 0;
  double sum = 0;
  double squares = 0;
};
Norms norms(const Store& store);

/// The sum of squared moduli of the whole spectrum, of which half is kept: this rank's share.
double spectrum_squares(const Store& store);

/// The largest difference between what came back, over the number of points, and what was sent.
double round_trip_error(const Store& store);

}  // namespace halobench::fft

// SPDX-License-Identifier: BSD-3-Clause
// Real fields whose spectrum is known.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mpi/rank_grid.hpp"
#include "numerics/fftw.hpp"

namespace halobench::fft {

/// A place in an array, or in its spectrum.
using Place = std::array<std::int64_t, 3>;

/// Normally distributed, of mean 0 and variance 1, by its number in the array alone: every grid of
/// ranks has the same field. G. Box, M. Muller, Annals of Mathematical Statistics 29, 1958.
double gaussian(std::int64_t index);

/// A point and a few waves in an array of so many points, by tables of exp(-2 pi i j / n).
class Fields {
 public:
  explicit Fields(const Extents& size);

  /// 1 at one place, 0 elsewhere; all its coefficients have modulus 1.
  double point(const Place& at) const;
  Complex point_spectrum(const Place& k) const;
  /// A sum of cosines, whose coefficients stand in single places, and nothing elsewhere.
  double waves(const Place& at) const;
  Complex waves_spectrum(const Place& k) const;

 private:
  /// exp(-2 pi i (k . at)), each axis by its length.
  Complex root(const Place& k, const Place& at) const;

  Extents size_;
  std::array<std::vector<Complex>, 3> roots_;
  Place point_;
  std::array<Place, 3> waves_;
};

}  // namespace halobench::fft

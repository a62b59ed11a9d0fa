// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fft_pencil/answer.hpp"

namespace halobench::fft {
namespace {

std::int64_t real_values(const Store& store) {
  return store.planes() * store.y().size() * store.pencils().size[2];
}

}  // namespace

// Sums are made line by line: millions of terms one after the other round too often.
Norms norms(const Store& store) {
  const auto nz = store.pencils().size[2];
  const auto lines = store.planes() * store.y().size();
  double most = 0;
  double sum = 0;
  double squares = 0;
#pragma omp parallel for reduction(max : most) reduction(+ : sum, squares)
  for (std::int64_t line = 0; line < lines; ++line) {
    Norms of_line;
    for (std::int64_t z = 0; z < nz; ++z) {
      const double value = store.in()[line * nz + z];
      raise(of_line.most, std::abs(value));
      of_line.sum += std::abs(value);
      of_line.squares += value * value;
    }
    raise(most, of_line.most);
    sum += of_line.sum;
    squares += of_line.squares;
  }
  return {most, sum, squares};
}

double spectrum_squares(const Store& store) {
  const auto kz = store.kz();
  const auto nz = store.pencils().size[2];
  const auto lines = store.pencils().size[0] * store.ky().size();
  double squares = 0;
#pragma omp parallel for reduction(+ : squares)
  for (std::int64_t line = 0; line < lines; ++line) {
    const auto* at = store.spectrum() + line * kz.size();
    double of_line = 0;
    for (auto z = kz.begin; z < kz.end; ++z) {
      const bool alone = z == 0 || 2 * z == nz;  // the others stand for their conjugates too
      of_line += (alone ? 1 : 2) * std::norm(*at++);
    }
    squares += of_line;
  }
  return squares;
}

double round_trip_error(const Store& store) {
  const double scale = 1 / store.pencils().points();
  const auto count = real_values(store);
  double most = 0;
#pragma omp parallel for reduction(max : most)
  for (std::int64_t i = 0; i < count; ++i) {
    raise(most, std::abs(store.out()[i] * scale - store.in()[i]));
  }
  return most;
}

}  // namespace halobench::fft

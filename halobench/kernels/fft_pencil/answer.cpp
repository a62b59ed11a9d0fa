#include "kernels/fft_pencil/answer.hpp"

namespace halobench::fft {
namespace {

std::int64_t real_values(const Store& store) {
  return store.planes() * store.y().size() * store.pencils().size[2];
}

}  // namespace

Norms norms(const Store& store) {
  double most = 0;
  double sum = 0;
  double squares = 0;
  const auto count = real_values(store);
#pragma omp parallel for reduction(max : most) reduction(+ : sum, squares)
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = store.in()[i];
    most = std::max(most, std::abs(value));
    sum += std::abs(value);
    squares += value * value;
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
    for (auto z = kz.begin; z < kz.end; ++z) {
      const bool alone = z == 0 || 2 * z == nz;  // the others stand for their conjugates too
      squares += (alone ? 1 : 2) * std::norm(*at++);
    }
  }
  return squares;
}

double round_trip_error(const Store& store) {
  const double scale = 1 / store.pencils().points();
  const auto count = real_values(store);
  double most = 0;
#pragma omp parallel for reduction(max : most)
  for (std::int64_t i = 0; i < count; ++i) {
    const double error = std::abs(store.out()[i] * scale - store.in()[i]);
    most = error <= most ? most : (std::isnan(error) ? HUGE_VAL : error);
  }
  return most;
}

}  // namespace halobench::fft

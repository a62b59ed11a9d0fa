// SPDX-License-Identifier: BSD-3-Clause
// How an array is cut into pencils, what is refused, and the fields whose spectrum is known.
#include <cmath>

#include "base/as_size.hpp"
#include "command.hpp"
#include "expect.hpp"
#include "kernels/fft_pencil/fields.hpp"
#include "kernels/fft_pencil/settings.hpp"

using halobench::Complex;
using halobench::Params;
using halobench::Problem;
using halobench::fft::Fields;
using halobench::fft::Pencils;
using halobench::fft::Place;

namespace {

struct Parsed {
  Pencils pencils;
  std::string problem;
};

Parsed parse(std::vector<std::string> arguments, std::int64_t ranks, std::int64_t threads = 1) {
  std::vector<Problem> problems;
  const Params params(halobench::find_kernel("fft_pencil").parameters, arguments, problems);
  const auto pencils = halobench::fft::parse_settings(params, {ranks, threads}, problems).pencils;
  if (problems.empty()) return {pencils, ""};
  return {pencils, problems[0].key + "=" + problems[0].value + ": " + problems[0].message};
}

void words_choose_the_grid_of_ranks() {
  expect::equal(parse({"size=64x64x64"}, 8).pencils.topology(), std::string("8x1"));
  expect::equal(parse({"size=6x64x64"}, 8).pencils.topology(), std::string("4x2"));
  expect::equal(parse({"topology=even"}, 8).pencils.topology(), std::string("4x2"));
  expect::equal(parse({"topology=columns"}, 8).pencils.topology(), std::string("1x8"));
  expect::equal(parse({"topology=2x4"}, 8).pencils.topology(), std::string("2x4"));
}

void every_value_and_coefficient_has_one_rank() {
  const auto pencils = parse({"size=23x11x9", "topology=3x4"}, 12).pencils;
  std::int64_t real = 0;
  std::int64_t along_y = 0;
  std::int64_t spectrum = 0;
  for (std::int64_t row = 0; row < 3; ++row) {
    std::int64_t planes = 0;
    for (std::int64_t chunk = 0; chunk < pencils.chunks; ++chunk) {
      planes += pencils.chunk(row, chunk).size();
    }
    expect::equal(planes, pencils.x(row).size());
    for (std::int64_t column = 0; column < 4; ++column) {
      real += pencils.x(row).size() * pencils.y(column).size() * 9;
      along_y += pencils.x(row).size() * 11 * pencils.kz(column).size();
      spectrum += 23 * pencils.ky(row).size() * pencils.kz(column).size();
    }
  }
  expect::equal(real, std::int64_t{23} * 11 * 9);
  expect::equal(along_y, std::int64_t{23} * 11 * 5);
  expect::equal(spectrum, std::int64_t{23} * 11 * 5);
}

void groups_of_planes_are_as_many_as_threads_and_planes_allow() {
  expect::equal(parse({"size=64x64x64"}, 2).pencils.chunks, std::int64_t{8});
  expect::equal(parse({"size=64x64x64"}, 16).pencils.chunks, std::int64_t{4});
  expect::equal(parse({"size=64x64x64"}, 16, 4).pencils.chunks, std::int64_t{1});
  expect::equal(parse({"size=64x64x64", "chunks=3"}, 2).pencils.chunks, std::int64_t{3});
  expect::equal(parse({"chunks=3", "transpose=alltoallv"}, 2).pencils.chunks, std::int64_t{1});
}

void what_can_t_be_cut_is_refused() {
  expect::equal(parse({"size=0x4x4"}, 1).problem,
                std::string("size=0x4x4: give points along x, y, and z, such as 256x256x256"));
  expect::equal(parse({"topology=2x2x2"}, 8).problem,
                std::string("topology=2x2x2: give auto, rows, columns, even, or ranks in rows and "
                            "columns, such as 4x2"));
  expect::equal(parse({"topology=3x2"}, 8).problem,
                std::string("topology=3x2: 6 ranks requested, but there are 8; give numbers with "
                            "the product 8, or auto, rows, columns, even"));
  expect::equal(parse({"size=4x8x8", "topology=rows"}, 5).problem,
                std::string("topology=5x1: an array of 4x8x8 has pencils for at most 4 rows and 5 "
                            "columns of ranks; use fewer ranks or a larger size"));
  expect::equal(
      parse({"size=4096x4096x4096"}, 4).problem,
      std::string("size=4096x4096x4096: 8594128896 coefficients on a rank: the limit of MPI "
                  "counts is 2^31 - 1; use more ranks or a smaller size"));
}

/// The spectrum of a field by its definition.
template <class Value>
Complex coefficient(const halobench::Extents& size, const Place& k, const Value& value) {
  Complex sum = 0;
  for (std::int64_t x = 0; x < size[0]; ++x) {
    for (std::int64_t y = 0; y < size[1]; ++y) {
      for (std::int64_t z = 0; z < size[2]; ++z) {
        double turns = 0;
        const Place at{x, y, z};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          turns += static_cast<double>(k[axis] * at[axis]) / static_cast<double>(size[axis]);
        }
        sum += value(at) * std::polar(1.0, -2 * std::acos(-1.0) * turns);
      }
    }
  }
  return sum;
}

void known_spectra_are_those_of_their_fields() {
  for (const halobench::Extents size : {halobench::Extents{4, 6, 5}, halobench::Extents{1, 2, 3}}) {
    const Fields fields(size);
    for (std::int64_t x = 0; x < size[0]; ++x) {
      for (std::int64_t y = 0; y < size[1]; ++y) {
        for (std::int64_t z = 0; z <= size[2] / 2; ++z) {
          const Place k{x, y, z};
          const auto point =
              coefficient(size, k, [&](const Place& at) { return fields.point(at); });
          const auto waves =
              coefficient(size, k, [&](const Place& at) { return fields.waves(at); });
          expect::is_true(std::abs(point - fields.point_spectrum(k)) < 1e-12, "a point");
          expect::is_true(std::abs(waves - fields.waves_spectrum(k)) < 1e-11, "waves");
        }
      }
    }
  }
}

void gaussian_values_have_their_mean_and_variance() {
  constexpr std::int64_t count = 100000;
  double sum = 0;
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += halobench::fft::gaussian(i);
    squares += halobench::fft::gaussian(i) * halobench::fft::gaussian(i);
  }
  expect::is_true(std::abs(sum / count) < 0.01, "the mean is 0");
  expect::is_true(std::abs(squares / count - 1) < 0.02, "the variance is 1");
}

}  // namespace

int main() {
  words_choose_the_grid_of_ranks();
  every_value_and_coefficient_has_one_rank();
  groups_of_planes_are_as_many_as_threads_and_planes_allow();
  what_can_t_be_cut_is_refused();
  known_spectra_are_those_of_their_fields();
  gaussian_values_have_their_mean_and_variance();
  return expect::exit_code();
}

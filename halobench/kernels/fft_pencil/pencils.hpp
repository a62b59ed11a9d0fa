// SPDX-License-Identifier: BSD-3-Clause
// How a three-dimensional array is cut into pencils, three times: along z, y and x.
#pragma once

#include <cstdint>
#include <string>

#include "mpi/rank_grid.hpp"
#include "numerics/grid.hpp"

namespace halobench::fft {

/// nx x ny x nz real values, z fastest, and their spectrum of nx x ny x (nz / 2 + 1) coefficients,
/// over rows x columns ranks; rank = row * columns + column.
///
/// z pencils: x over rows, y over columns, all of z. y pencils: x over rows, kz over columns. x
/// pencils: ky over rows, kz over columns. From z to y pencils the ranks of a row exchange, from y
/// to x pencils those of a column. Planes of equal x travel in `chunks` groups.
struct Pencils {
  Extents size{1, 1, 1};
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t chunks = 1;

  std::int64_t half() const { return size[2] / 2 + 1; }
  double points() const {
    return static_cast<double>(size[0]) * static_cast<double>(size[1]) *
           static_cast<double>(size[2]);
  }
  Range x(std::int64_t row) const { return share({0, size[0]}, rows, row); }
  Range y(std::int64_t column) const { return share({0, size[1]}, columns, column); }
  Range ky(std::int64_t row) const { return share({0, size[1]}, rows, row); }
  Range kz(std::int64_t column) const { return share({0, half()}, columns, column); }
  /// Planes of a row's own x, counted from its first.
  Range chunk(std::int64_t row, std::int64_t index) const {
    return share({0, x(row).size()}, chunks, index);
  }
  std::string topology() const { return std::to_string(rows) + "x" + std::to_string(columns); }
};

}  // namespace halobench::fft

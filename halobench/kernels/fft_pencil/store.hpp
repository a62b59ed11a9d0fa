// SPDX-License-Identifier: BSD-3-Clause
// A rank's arrays, and where in them the planes of each pencil lie.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernel.hpp"
#include "kernels/fft_pencil/exchange.hpp"
#include "kernels/fft_pencil/pencils.hpp"

namespace halobench::fft {

/// What a rank has: real values in z pencils, the spectrum in x pencils, and, where ranks exchange,
/// buffers on both sides of it. Planes of equal x are counted from the rank's first.
///
/// A run is what a plane has for one rank: whole rows next to each other. What a rank keeps lies
/// where it would have been received.
class Store {
 public:
  Store(const Context& context, const Pencils& pencils);

  const Pencils& pencils() const { return pencils_; }
  std::int64_t row() const { return row_; }
  std::int64_t column() const { return column_; }
  std::int64_t planes() const { return pencils_.x(row_).size(); }
  Range y() const { return pencils_.y(column_); }
  Range ky() const { return pencils_.ky(row_); }
  Range kz() const { return pencils_.kz(column_); }

  /// Real values, nz a row, y().size() rows a plane.
  double* in() const { return in_.data(); }
  double* out() const { return out_.data(); }
  /// The spectrum: (kx, ky(), kz()), kz fastest.
  Complex* spectrum() const { return spectrum_.data(); }
  /// Coefficients of the spectrum of equal kx.
  std::int64_t spectrum_plane() const { return ky().size() * kz().size(); }

  /// Of z pencils, what goes to a column: y().size() rows of its kz. Only where there are several
  /// columns; else z pencils are y pencils.
  Complex* z_run(std::int64_t plane, std::int64_t column) const {
    return z_runs_[as_size(plane * pencils_.columns + column)];
  }
  /// Of y pencils, what comes from a column: rows of its y. Only where there are several columns.
  Complex* near_run(std::int64_t plane, std::int64_t column) const {
    return near_runs_[as_size(plane * pencils_.columns + column)];
  }
  /// Of y pencils, what goes to a row: rows of its ky.
  Complex* far_run(std::int64_t plane, std::int64_t row) const {
    return far_runs_[as_size(plane * pencils_.rows + row)];
  }

  Side z_side() const { return z_side_; }
  Side near_side() const { return near_side_; }
  Side far_side() const { return far_side_; }
  Side spectrum_side() const { return spectrum_side_; }

  /// Bytes that all ranks of such pencils have so; what the transforms need besides is not in it.
  static double memory(const Pencils& pencils);

 private:
  /// A buffer of planes, chunk by chunk and in each rank by rank: how many coefficients a plane has
  /// for a rank, and where what this rank keeps of it lies, if not in the buffer too.
  struct Buffered {
    Complex* memory;
    std::int64_t ranks;
    std::int64_t own;
    std::function<std::int64_t(std::int64_t rank)> run;
    std::function<Complex*(std::int64_t plane)> kept;
  };
  /// The side that it is, and its runs.
  Side cut(const Buffered& buffer, std::vector<Complex*>& runs) const;
  void cut_buffers();
  void cut_spectrum();

  Pencils pencils_;
  std::int64_t row_;
  std::int64_t column_;
  Buffer<double> in_;
  Buffer<double> out_;
  Buffer<Complex> z_;
  Buffer<Complex> near_;
  Buffer<Complex> far_;
  Buffer<Complex> spectrum_;
  Side z_side_;
  Side near_side_;
  Side far_side_;
  Side spectrum_side_;
  std::vector<Complex*> z_runs_;
  std::vector<Complex*> near_runs_;
  std::vector<Complex*> far_runs_;
};

}  // namespace halobench::fft

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fft_pencil/store.hpp"

#include "base/as_size.hpp"

namespace halobench::fft {
namespace {

/// Coefficients of a rank: of its z pencils, its y pencils, its x pencils.
struct Counts {
  Counts(const Pencils& pencils, std::int64_t row, std::int64_t column)
      : z(pencils.x(row).size() * pencils.y(column).size() * pencils.half()),
        y(pencils.x(row).size() * pencils.size[1] * pencils.kz(column).size()),
        x(pencils.size[0] * pencils.ky(row).size() * pencils.kz(column).size()),
        real(pencils.x(row).size() * pencils.y(column).size() * pencils.size[2]),
        z_kept(pencils.x(row).size() * pencils.y(column).size() * pencils.kz(column).size()),
        y_kept(pencils.x(row).size() * pencils.ky(row).size() * pencils.kz(column).size()) {}

  std::int64_t z, y, x, real;
  std::int64_t z_kept, y_kept;  ///< what does not leave the rank

  std::int64_t z_buffer(const Pencils& pencils) const {
    return pencils.columns > 1 ? z - z_kept : 0;
  }
  std::int64_t near_buffer(const Pencils& pencils) const { return pencils.columns > 1 ? y : 0; }
  std::int64_t far_buffer(const Pencils& pencils) const {
    return pencils.rows > 1 ? y - y_kept : 0;
  }
};

/// A side with room for one piece per chunk and rank, not yet set.
Side side(Complex* memory, std::int64_t chunks, std::int64_t ranks) {
  return {memory, std::vector(as_size(chunks), std::vector<Piece>(as_size(ranks)))};
}

}  // namespace

Store::Store(const Context& context, const Pencils& pencils)
    : pencils_(pencils),
      row_(context.comm.rank() / pencils.columns),
      column_(context.comm.rank() % pencils.columns) {
  const Counts counts(pencils, row_, column_);
  in_ = context.memory.allocate<double>(counts.real);
  out_ = context.memory.allocate<double>(counts.real);
  z_ = context.memory.allocate<Complex>(counts.z_buffer(pencils));
  near_ = context.memory.allocate<Complex>(counts.near_buffer(pencils));
  far_ = context.memory.allocate<Complex>(counts.far_buffer(pencils));
  spectrum_ = context.memory.allocate<Complex>(counts.x);
  cut_spectrum();
  cut_buffers();
}

double Store::memory(const Pencils& pencils) {
  double bytes = 0;
  for (std::int64_t row = 0; row < pencils.rows; ++row) {
    for (std::int64_t column = 0; column < pencils.columns; ++column) {
      const Counts counts(pencils, row, column);
      bytes += 2.0 * sizeof(double) * static_cast<double>(counts.real);
      bytes += sizeof(Complex) *
               static_cast<double>(counts.x + counts.z_buffer(pencils) +
                                   counts.near_buffer(pencils) + counts.far_buffer(pencils));
    }
  }
  return bytes;
}

/// What comes from a row: planes of its x, whole.
void Store::cut_spectrum() {
  spectrum_side_ = side(spectrum_.data(), pencils_.chunks, pencils_.rows);
  for (std::int64_t chunk = 0; chunk < pencils_.chunks; ++chunk) {
    for (std::int64_t row = 0; row < pencils_.rows; ++row) {
      if (row == row_) continue;
      const auto planes = pencils_.chunk(row, chunk);
      spectrum_side_.pieces[as_size(chunk)][as_size(row)] = {
          (pencils_.x(row).begin + planes.begin) * spectrum_plane(),
          planes.size() * spectrum_plane()};
    }
  }
}

Side Store::cut(const Buffered& buffer, std::vector<Complex*>& runs) const {
  auto cut = side(buffer.memory, pencils_.chunks, buffer.ranks);
  runs.resize(as_size(planes() * buffer.ranks));
  std::int64_t first = 0;
  for (std::int64_t chunk = 0; chunk < pencils_.chunks; ++chunk) {
    const auto group = pencils_.chunk(row_, chunk);
    for (std::int64_t rank = 0; rank < buffer.ranks; ++rank) {
      const bool own = rank == buffer.own;
      const bool elsewhere = own && buffer.kept;
      const auto run = buffer.run(rank);
      for (auto plane = group.begin; plane < group.end; ++plane) {
        runs[as_size(plane * buffer.ranks + rank)] =
            elsewhere ? buffer.kept(plane) : buffer.memory + first + (plane - group.begin) * run;
      }
      if (!own) cut.pieces[as_size(chunk)][as_size(rank)] = {first, group.size() * run};
      if (!elsewhere) first += group.size() * run;
    }
  }
  return cut;
}

void Store::cut_buffers() {
  const auto lines = kz().size();
  const auto in_spectrum = [this](std::int64_t plane) {
    return spectrum_.data() + (pencils_.x(row_).begin + plane) * spectrum_plane();
  };
  const auto to_row = [=, this](std::int64_t row) { return pencils_.ky(row).size() * lines; };
  far_side_ = cut({far_.data(), pencils_.rows, row_, to_row, in_spectrum}, far_runs_);
  if (pencils_.columns == 1) return;
  const auto from_column = [=, this](std::int64_t column) {
    return pencils_.y(column).size() * lines;
  };
  near_side_ = cut({near_.data(), pencils_.columns, column_, from_column, {}}, near_runs_);
  const auto to_column = [this](std::int64_t column) {
    return y().size() * pencils_.kz(column).size();
  };
  const auto in_near = [this](std::int64_t plane) { return near_run(plane, column_); };
  z_side_ = cut({z_.data(), pencils_.columns, column_, to_column, in_near}, z_runs_);
}

}  // namespace halobench::fft

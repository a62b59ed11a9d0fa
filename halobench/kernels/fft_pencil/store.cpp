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

/// A side whose pieces are still to be told, one for each chunk and rank.
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
  cut_far();
  if (pencils.columns > 1) {
    cut_near();
    cut_z();
  }
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

void Store::cut_far() {
  far_side_ = side(far_.data(), pencils_.chunks, pencils_.rows);
  far_runs_.resize(as_size(planes() * pencils_.rows));
  std::int64_t first = 0;
  for (std::int64_t chunk = 0; chunk < pencils_.chunks; ++chunk) {
    const auto group = pencils_.chunk(row_, chunk);
    for (std::int64_t row = 0; row < pencils_.rows; ++row) {
      const auto run = pencils_.ky(row).size() * kz().size();
      for (auto plane = group.begin; plane < group.end; ++plane) {
        auto* const kept = spectrum_.data() + (pencils_.x(row_).begin + plane) * spectrum_plane();
        auto* const sent = far_.data() + first + (plane - group.begin) * run;
        far_runs_[as_size(plane * pencils_.rows + row)] = row == row_ ? kept : sent;
      }
      if (row == row_) continue;
      far_side_.pieces[as_size(chunk)][as_size(row)] = {first, group.size() * run};
      first += group.size() * run;
    }
  }
}

void Store::cut_near() {
  near_side_ = side(near_.data(), pencils_.chunks, pencils_.columns);
  near_runs_.resize(as_size(planes() * pencils_.columns));
  std::int64_t first = 0;
  for (std::int64_t chunk = 0; chunk < pencils_.chunks; ++chunk) {
    const auto group = pencils_.chunk(row_, chunk);
    for (std::int64_t column = 0; column < pencils_.columns; ++column) {
      const auto run = pencils_.y(column).size() * kz().size();
      for (auto plane = group.begin; plane < group.end; ++plane) {
        near_runs_[as_size(plane * pencils_.columns + column)] =
            near_.data() + first + (plane - group.begin) * run;
      }
      if (column != column_) {
        near_side_.pieces[as_size(chunk)][as_size(column)] = {first, group.size() * run};
      }
      first += group.size() * run;
    }
  }
}

void Store::cut_z() {
  z_side_ = side(z_.data(), pencils_.chunks, pencils_.columns);
  z_runs_.resize(as_size(planes() * pencils_.columns));
  std::int64_t first = 0;
  for (std::int64_t chunk = 0; chunk < pencils_.chunks; ++chunk) {
    const auto group = pencils_.chunk(row_, chunk);
    for (std::int64_t column = 0; column < pencils_.columns; ++column) {
      const auto run = y().size() * pencils_.kz(column).size();
      for (auto plane = group.begin; plane < group.end; ++plane) {
        auto* const sent = z_.data() + first + (plane - group.begin) * run;
        z_runs_[as_size(plane * pencils_.columns + column)] =
            column == column_ ? near_run(plane, column) : sent;
      }
      if (column == column_) continue;
      z_side_.pieces[as_size(chunk)][as_size(column)] = {first, group.size() * run};
      first += group.size() * run;
    }
  }
}

}  // namespace halobench::fft

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fft_pencil/strided.hpp"

#include <algorithm>

#include "base/as_size.hpp"

namespace halobench::fft {
namespace {

std::int64_t z_values(const Pencils& pencils, std::int64_t row, std::int64_t column) {
  if (pencils.columns == 1) return 0;
  return pencils.x(row).size() * pencils.y(column).size() * pencils.half();
}

std::int64_t y_values(const Pencils& pencils, std::int64_t row, std::int64_t column) {
  if (pencils.rows == 1) return 0;
  return pencils.x(row).size() * pencils.size[1] * pencils.kz(column).size();
}

}  // namespace

Strided::Strided(const Context& context, const Store& store, Planning planning)
    : Sweeps(context, store, planning),
      forward_z_(context.meter.phase("forward_z")),
      forward_y_(context.meter.phase("forward_y")),
      forward_x_(context.meter.phase("forward_x")),
      pack_(context.meter.phase("pack")),
      unpack_(context.meter.phase("unpack")),
      backward_x_(context.meter.phase("backward_x")),
      backward_y_(context.meter.phase("backward_y")),
      backward_z_(context.meter.phase("backward_z")),
      z_(context.memory.allocate<Complex>(z_values(pencils(), store.row(), store.column()))),
      y_(context.memory.allocate<Complex>(y_values(pencils(), store.row(), store.column()))) {
  if (!context.meter.executes()) return;
  const auto [nx, ny, nz] = pencils().size;
  const auto lines = store.kz().size();
  const Transforms rows{nz, store.y().size(), {1, nz}, {1, pencils().half()}};
  const Transforms rows_back{nz, store.y().size(), {1, pencils().half()}, {1, nz}};
  const Transforms y{ny, lines, {lines, 1}, {lines, 1}};
  const Transforms x{nx, lines, {store.spectrum_plane(), 1}, {store.spectrum_plane(), 1}};
  auto* const spectrum = store.spectrum();
  to_complex_ = FftwPlan::to_complex(rows, store.in(), z_plane(0), planning_);
  to_real_ = FftwPlan::to_real(rows_back, z_plane(0), store.out(), planning_);
  along_y_ = FftwPlan::forward(y, y_plane(0), y_plane(0), planning_);
  back_along_y_ = FftwPlan::backward(y, y_plane(0), y_plane(0), planning_);
  along_x_ = FftwPlan::forward(x, spectrum, spectrum, planning_);
  back_along_x_ = FftwPlan::backward(x, spectrum, spectrum, planning_);
}

double Strided::memory(const Pencils& pencils) {
  double values = 0;
  for (std::int64_t row = 0; row < pencils.rows; ++row) {
    for (std::int64_t column = 0; column < pencils.columns; ++column) {
      values +=
          static_cast<double>(z_values(pencils, row, column) + y_values(pencils, row, column));
    }
  }
  return sizeof(Complex) * values;
}

Complex* Strided::y_plane(std::int64_t plane) const {
  auto* const first = pencils().rows == 1 ? store_.spectrum() : y_.data();
  return first + plane * pencils().size[1] * store_.kz().size();
}

Complex* Strided::z_plane(std::int64_t plane) const {
  if (one_column()) return y_plane(plane);
  return z_.data() + plane * store_.y().size() * pencils().half();
}

template <class Copy>
void Strided::copy(const Range& planes, double coefficients, Phase& phase,
                   const Copy& copy_plane) const {
  context_.meter.compute(phase, traffic(2 * sizeof(Complex) * coefficients, 0), [&] {
#pragma omp parallel for
    for (auto plane = planes.begin; plane < planes.end; ++plane) copy_plane(plane);
  });
}

void Strided::forward_z(const Range& planes) {
  const auto bytes = real_bytes(planes) + sizeof(Complex) * coefficients_z(planes);
  const auto in_plane = store_.y().size() * pencils().size[2];
  context_.meter.compute(forward_z_, traffic(bytes, flops_z(planes)), [&] {
#pragma omp parallel for
    for (auto plane = planes.begin; plane < planes.end; ++plane) {
      to_complex_.run(store_.in() + plane * in_plane, z_plane(plane));
    }
  });
  if (one_column()) return forward_y(planes);
  copy(planes, coefficients_z(planes), pack_, [&](std::int64_t plane) {
    for (std::int64_t column = 0; column < pencils().columns; ++column) {
      const auto kz = pencils().kz(column);
      for (std::int64_t y = 0; y < store_.y().size(); ++y) {
        std::copy_n(z_plane(plane) + y * pencils().half() + kz.begin, kz.size(),
                    store_.z_run(plane, column) + y * kz.size());
      }
    }
  });
}

void Strided::backward_z(const Range& planes) {
  if (one_column()) {
    backward_y(planes);
  } else {
    copy(planes, coefficients_z(planes), unpack_, [&](std::int64_t plane) {
      for (std::int64_t column = 0; column < pencils().columns; ++column) {
        const auto kz = pencils().kz(column);
        for (std::int64_t y = 0; y < store_.y().size(); ++y) {
          std::copy_n(store_.z_run(plane, column) + y * kz.size(), kz.size(),
                      z_plane(plane) + y * pencils().half() + kz.begin);
        }
      }
    });
  }
  const auto bytes = real_bytes(planes) + sizeof(Complex) * coefficients_z(planes);
  const auto out_plane = store_.y().size() * pencils().size[2];
  context_.meter.compute(backward_z_, traffic(bytes, flops_z(planes)), [&] {
#pragma omp parallel for
    for (auto plane = planes.begin; plane < planes.end; ++plane) {
      to_real_.run(z_plane(plane), store_.out() + plane * out_plane);
    }
  });
}

void Strided::transform_y(const Range& planes, const FftwPlan& plan, Phase& phase) const {
  const auto bytes = 2 * sizeof(Complex) * coefficients_y(planes);
  context_.meter.compute(phase, traffic(bytes, flops_y(planes)), [&] {
#pragma omp parallel for
    for (auto plane = planes.begin; plane < planes.end; ++plane) {
      plan.run(y_plane(plane), y_plane(plane));
    }
  });
}

void Strided::forward_y(const Range& planes) {
  const auto line = store_.kz().size();
  if (!one_column()) {
    copy(planes, coefficients_y(planes), unpack_, [&](std::int64_t plane) {
      for (std::int64_t column = 0; column < pencils().columns; ++column) {
        const auto y = pencils().y(column);
        std::copy_n(store_.near_run(plane, column), y.size() * line,
                    y_plane(plane) + y.begin * line);
      }
    });
  }
  transform_y(planes, along_y_, forward_y_);
  if (pencils().rows == 1) return;
  copy(planes, coefficients_y(planes), pack_, [&](std::int64_t plane) {
    for (std::int64_t row = 0; row < pencils().rows; ++row) {
      const auto ky = pencils().ky(row);
      std::copy_n(y_plane(plane) + ky.begin * line, ky.size() * line, store_.far_run(plane, row));
    }
  });
}

void Strided::backward_y(const Range& planes) {
  const auto line = store_.kz().size();
  if (pencils().rows > 1) {
    copy(planes, coefficients_y(planes), unpack_, [&](std::int64_t plane) {
      for (std::int64_t row = 0; row < pencils().rows; ++row) {
        const auto ky = pencils().ky(row);
        std::copy_n(store_.far_run(plane, row), ky.size() * line, y_plane(plane) + ky.begin * line);
      }
    });
  }
  transform_y(planes, back_along_y_, backward_y_);
  if (one_column()) return;
  copy(planes, coefficients_y(planes), pack_, [&](std::int64_t plane) {
    for (std::int64_t column = 0; column < pencils().columns; ++column) {
      const auto y = pencils().y(column);
      std::copy_n(y_plane(plane) + y.begin * line, y.size() * line, store_.near_run(plane, column));
    }
  });
}

void Strided::transform_x(const FftwPlan& plan, Phase& phase) const {
  const auto bytes = 2 * sizeof(Complex) * coefficients_x();
  context_.meter.compute(phase, traffic(bytes, flops_x()), [&] {
#pragma omp parallel for
    for (std::int64_t y = 0; y < store_.ky().size(); ++y) {
      auto* const lines = store_.spectrum() + y * store_.kz().size();
      plan.run(lines, lines);
    }
  });
}

double Strided::bytes() const {
  const Range all{0, store_.planes()};
  const auto z = coefficients_z(all);
  const auto y = coefficients_y(all);
  double coefficients = z + 2 * y + 2 * coefficients_x();
  if (!one_column()) coefficients += 2 * z + 2 * y;
  if (pencils().rows > 1) coefficients += 2 * y;
  return 2 * (real_bytes(all) + sizeof(Complex) * coefficients);
}

void Strided::forward_x() { transform_x(along_x_, forward_x_); }
void Strided::backward_x() { transform_x(back_along_x_, backward_x_); }

}  // namespace halobench::fft

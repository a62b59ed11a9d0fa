// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fft_pencil/blocked.hpp"

#include <omp.h>

#include <algorithm>

#include "base/as_size.hpp"
#include "base/prefetch.hpp"

namespace halobench::fft {
namespace {

/// Rows along z ahead for which values are prefetched.
constexpr std::int64_t rows_ahead = 2;

std::int64_t scratch_values(const Pencils& pencils, std::int64_t row, std::int64_t column) {
  const auto kz = pencils.kz(column).size();
  const Blocks y(kz, pencils.size[1]);
  const Blocks x(pencils.ky(row).size() * kz, pencils.size[0]);
  return std::max({y.values(), x.values(), pencils.half()});
}

}  // namespace

Blocked::Blocked(const Context& context, const Store& store, Planning planning)
    : Sweeps(context, store, planning),
      y_(store.kz().size(), pencils().size[1]),
      x_(store.spectrum_plane(), pencils().size[0]) {
  auto& meter = context.meter;
  if (one_column()) {
    forward_zy_ = &meter.phase("forward_zy");
  } else {
    forward_z_ = &meter.phase("forward_z");
    forward_y_ = &meter.phase("forward_y");
  }
  forward_x_ = &meter.phase("forward_x");
  backward_x_ = &meter.phase("backward_x");
  if (one_column()) {
    backward_yz_ = &meter.phase("backward_yz");
  } else {
    backward_y_ = &meter.phase("backward_y");
    backward_z_ = &meter.phase("backward_z");
  }
  for (std::int64_t thread = 0; thread < threads(); ++thread) {
    const auto values = scratch_values(pencils(), store.row(), store.column());
    scratch_.push_back(context.memory.allocate<Complex>(values));
  }
  if (!meter.executes()) return;
  const auto nz = pencils().size[2];
  auto* const memory = scratch_[0].data();
  y_.plan(memory, planning_);
  x_.plan(memory, planning_);
  to_complex_ = FftwPlan::to_complex({nz, 1, {}, {}}, store.in(), memory, planning_);
  to_real_ = FftwPlan::to_real({nz, 1, {}, {}}, memory, store.out(), planning_);
}

double Blocked::memory(const Pencils& pencils, std::int64_t threads) {
  double values = 0;
  for (std::int64_t row = 0; row < pencils.rows; ++row) {
    for (std::int64_t column = 0; column < pencils.columns; ++column) {
      values += static_cast<double>(threads * scratch_values(pencils, row, column));
    }
  }
  return sizeof(Complex) * values;
}

double Blocked::bytes() const {
  const Range all{0, store_.planes()};
  const auto y = coefficients_y(all);
  const auto along_zy = one_column() ? y : coefficients_z(all) + 2 * y;
  return 2 * (real_bytes(all) + sizeof(Complex) * (along_zy + 2 * coefficients_x()));
}

Complex* Blocked::scratch() const { return scratch_[as_size(omp_get_thread_num())].data(); }

template <class Body>
void Blocked::each_run(Runs runs, std::int64_t plane, const Body& body) const {
  if (runs == Runs::far) {
    for (std::int64_t row = 0; row < pencils().rows; ++row) {
      body(pencils().ky(row), store_.far_run(plane, row));
    }
    return;
  }
  for (std::int64_t column = 0; column < pencils().columns; ++column) {
    body(pencils().y(column), store_.near_run(plane, column));
  }
}

void Blocked::gather(Runs from, std::int64_t plane, std::int64_t block) const {
  each_run(from, plane, [&](const Range& y, const Complex* run) {
    y_.gather(block, run, store_.kz().size(), y, scratch());
  });
}

void Blocked::scatter(Runs to, std::int64_t plane, std::int64_t block) const {
  each_run(to, plane, [&](const Range& y, Complex* run) {
    y_.scatter(block, scratch(), run, store_.kz().size(), y);
  });
}

void Blocked::rows_to_complex(std::int64_t plane) const {
  const auto nz = pencils().size[2];
  const auto rows = store_.y().size();
  double* in = store_.in() + plane * rows * nz;
  const auto in_bytes = sizeof(double) * as_size(nz);
  if (one_column()) {
    const auto half = pencils().half();
    each_run(Runs::far, plane, [&](const Range& ky, Complex* row) {
      for (auto y = ky.begin; y < ky.end; ++y, row += half) {
        prefetch<Soon::read>(in + (y + rows_ahead) * nz, in_bytes);
        prefetch<Soon::write>(row + rows_ahead * half, sizeof(Complex) * as_size(half));
        to_complex_.run(in + y * nz, row);
      }
    });
    return;
  }
  auto* const line = scratch();
  for (std::int64_t y = 0; y < rows; ++y) {
    prefetch<Soon::read>(in + (y + rows_ahead) * nz, in_bytes);
    to_complex_.run(in + y * nz, line);
    for (std::int64_t column = 0; column < pencils().columns; ++column) {
      const auto kz = pencils().kz(column);
      std::copy_n(line + kz.begin, kz.size(), store_.z_run(plane, column) + y * kz.size());
    }
  }
}

void Blocked::rows_to_real(std::int64_t plane) const {
  const auto nz = pencils().size[2];
  const auto rows = store_.y().size();
  double* out = store_.out() + plane * rows * nz;
  const auto out_bytes = sizeof(double) * as_size(nz);
  if (one_column()) {
    const auto half = pencils().half();
    each_run(Runs::far, plane, [&](const Range& ky, Complex* row) {
      const auto a_plane = ky.size() * half;
      for (auto y = ky.begin; y < ky.end; ++y, row += half) {
        prefetch<Soon::read>(row + a_plane, sizeof(Complex) * as_size(half));
        prefetch<Soon::write>(out + (y + rows_ahead) * nz, out_bytes);
        to_real_.run(row, out + y * nz);
      }
    });
    return;
  }
  auto* const line = scratch();
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t column = 0; column < pencils().columns; ++column) {
      const auto kz = pencils().kz(column);
      std::copy_n(store_.z_run(plane, column) + y * kz.size(), kz.size(), line + kz.begin);
    }
    prefetch<Soon::write>(out + (y + rows_ahead) * nz, out_bytes);
    to_real_.run(line, out + y * nz);
  }
}

void Blocked::forward_block(std::int64_t plane, std::int64_t block) const {
  gather(one_column() ? Runs::far : Runs::near, plane, block);
  y_.forward(block, scratch());
  scatter(Runs::far, plane, block);
}

void Blocked::backward_block(std::int64_t plane, std::int64_t block) const {
  gather(Runs::far, plane, block);
  y_.backward(block, scratch());
  scatter(one_column() ? Runs::far : Runs::near, plane, block);
}

void Blocked::forward_z(const Range& planes) {
  if (one_column()) {
    const auto bytes = real_bytes(planes) + sizeof(Complex) * coefficients_y(planes);
    const auto flops = flops_z(planes) + flops_y(planes);
    context_.meter.compute(*forward_zy_, traffic(bytes, flops), [&] {
#pragma omp parallel for
      for (auto plane = planes.begin; plane < planes.end; ++plane) {
        rows_to_complex(plane);
        for (std::int64_t block = 0; block < y_.count(); ++block) forward_block(plane, block);
      }
    });
    return;
  }
  const auto bytes = real_bytes(planes) + sizeof(Complex) * coefficients_z(planes);
  context_.meter.compute(*forward_z_, traffic(bytes, flops_z(planes)), [&] {
#pragma omp parallel for
    for (auto plane = planes.begin; plane < planes.end; ++plane) rows_to_complex(plane);
  });
}

void Blocked::backward_z(const Range& planes) {
  if (one_column()) {
    const auto bytes = real_bytes(planes) + sizeof(Complex) * coefficients_y(planes);
    const auto flops = flops_z(planes) + flops_y(planes);
    context_.meter.compute(*backward_yz_, traffic(bytes, flops), [&] {
#pragma omp parallel for
      for (auto plane = planes.begin; plane < planes.end; ++plane) {
        for (std::int64_t block = 0; block < y_.count(); ++block) backward_block(plane, block);
        rows_to_real(plane);
      }
    });
    return;
  }
  const auto bytes = real_bytes(planes) + sizeof(Complex) * coefficients_z(planes);
  context_.meter.compute(*backward_z_, traffic(bytes, flops_z(planes)), [&] {
#pragma omp parallel for
    for (auto plane = planes.begin; plane < planes.end; ++plane) rows_to_real(plane);
  });
}

template <class Transform>
void Blocked::along_y(const Range& planes, Phase& phase, const Transform& transform) const {
  const auto bytes = 2 * sizeof(Complex) * coefficients_y(planes);
  context_.meter.compute(phase, traffic(bytes, flops_y(planes)), [&] {
#pragma omp parallel for collapse(2)
    for (auto plane = planes.begin; plane < planes.end; ++plane) {
      for (std::int64_t block = 0; block < y_.count(); ++block) transform(plane, block);
    }
  });
}

void Blocked::forward_y(const Range& planes) {
  along_y(planes, *forward_y_,
          [&](std::int64_t plane, std::int64_t block) { forward_block(plane, block); });
}

void Blocked::backward_y(const Range& planes) {
  along_y(planes, *backward_y_,
          [&](std::int64_t plane, std::int64_t block) { backward_block(plane, block); });
}

template <class Transform>
void Blocked::along_x(Phase& phase, const Transform& transform) const {
  const auto bytes = 2 * sizeof(Complex) * coefficients_x();
  const auto stride = store_.spectrum_plane();
  const Range all{0, pencils().size[0]};
  context_.meter.compute(phase, traffic(bytes, flops_x()), [&] {
#pragma omp parallel for
    for (std::int64_t block = 0; block < x_.count(); ++block) {
      auto* const memory = scratch();
      x_.gather(block, store_.spectrum(), stride, all, memory);
      transform(block, memory);
      x_.scatter(block, memory, store_.spectrum(), stride, all);
    }
  });
}

void Blocked::forward_x() {
  along_x(*forward_x_, [&](std::int64_t block, Complex* memory) { x_.forward(block, memory); });
}

void Blocked::backward_x() {
  along_x(*backward_x_, [&](std::int64_t block, Complex* memory) { x_.backward(block, memory); });
}

}  // namespace halobench::fft

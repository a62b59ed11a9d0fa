#include "kernels/fft_pencil/blocked.hpp"

#include <omp.h>

#include <algorithm>

#include "base/as_size.hpp"

namespace halobench::fft {
namespace {

constexpr std::int64_t block_bytes = 256 * 1024;  ///< leaves room in a second cache of 1 MiB
constexpr std::int64_t fewest_lines = 8;          ///< copied together: two lines of the cache
constexpr std::int64_t most_lines = 64;

std::int64_t scratch_values(const Pencils& pencils, std::int64_t row, std::int64_t column) {
  const auto kz = pencils.kz(column).size();
  const Blocks y(kz, pencils.size[1]);
  const Blocks x(pencils.ky(row).size() * kz, pencils.size[0]);
  return std::max({y.values(), x.values(), pencils.half()});
}

}  // namespace

Blocks::Blocks(std::int64_t lines, std::int64_t size) : lines_(lines), size_(size) {
  const auto fit = block_bytes / static_cast<std::int64_t>(sizeof(Complex)) / size;
  const auto width = std::clamp(fit, fewest_lines, most_lines);
  count_ = (lines + width - 1) / width;
}

void Blocks::plan(Complex* memory, Planning planning) {
  const auto planned = [&](std::int64_t width, auto&& make) {
    return make({size_, width, {width, 1}, {width, 1}}, memory, memory, planning);
  };
  const auto narrowest = lines(count_ - 1).size();
  forward_.wide = planned(widest(), FftwPlan::forward);
  backward_.wide = planned(widest(), FftwPlan::backward);
  if (narrowest == widest()) return;
  forward_.narrow = planned(narrowest, FftwPlan::forward);
  backward_.narrow = planned(narrowest, FftwPlan::backward);
}

void Blocks::run(const Plans& plans, std::int64_t block, Complex* memory) const {
  const bool wide = lines(block).size() == widest();
  (wide ? plans.wide : plans.narrow).run(memory, memory);
}

Blocked::Blocked(const Context& context, const Store& store)
    : Sweeps(context, store),
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

void Blocked::copy_in(Runs from, std::int64_t plane, const Range& lines) const {
  auto* const memory = scratch();
  each_run(from, plane, [&](const Range& y, const Complex* run) {
    for (std::int64_t i = 0; i < y.size(); ++i) {
      std::copy_n(run + i * store_.kz().size() + lines.begin, lines.size(),
                  memory + (y.begin + i) * lines.size());
    }
  });
}

void Blocked::copy_out(Runs to, std::int64_t plane, const Range& lines) const {
  const auto* const memory = scratch();
  each_run(to, plane, [&](const Range& y, Complex* run) {
    for (std::int64_t i = 0; i < y.size(); ++i) {
      std::copy_n(memory + (y.begin + i) * lines.size(), lines.size(),
                  run + i * store_.kz().size() + lines.begin);
    }
  });
}

void Blocked::rows_to_complex(std::int64_t plane) const {
  const auto nz = pencils().size[2];
  const auto rows = store_.y().size();
  double* in = store_.in() + plane * rows * nz;
  if (one_column()) {
    each_run(Runs::far, plane, [&](const Range& ky, Complex* row) {
      for (auto y = ky.begin; y < ky.end; ++y, row += pencils().half()) {
        to_complex_.run(in + y * nz, row);
      }
    });
    return;
  }
  auto* const line = scratch();
  for (std::int64_t y = 0; y < rows; ++y) {
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
  if (one_column()) {
    each_run(Runs::far, plane, [&](const Range& ky, Complex* row) {
      for (auto y = ky.begin; y < ky.end; ++y, row += pencils().half()) {
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
    to_real_.run(line, out + y * nz);
  }
}

void Blocked::forward_block(std::int64_t plane, std::int64_t block) const {
  copy_in(one_column() ? Runs::far : Runs::near, plane, y_.lines(block));
  y_.forward(block, scratch());
  copy_out(Runs::far, plane, y_.lines(block));
}

void Blocked::backward_block(std::int64_t plane, std::int64_t block) const {
  copy_in(Runs::far, plane, y_.lines(block));
  y_.backward(block, scratch());
  copy_out(one_column() ? Runs::far : Runs::near, plane, y_.lines(block));
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
  context_.meter.compute(phase, traffic(bytes, flops_x()), [&] {
#pragma omp parallel for
    for (std::int64_t block = 0; block < x_.count(); ++block) {
      const auto lines = x_.lines(block);
      auto* const memory = scratch();
      for (std::int64_t x = 0; x < pencils().size[0]; ++x) {
        std::copy_n(store_.spectrum() + x * stride + lines.begin, lines.size(),
                    memory + x * lines.size());
      }
      transform(block, memory);
      for (std::int64_t x = 0; x < pencils().size[0]; ++x) {
        std::copy_n(memory + x * lines.size(), lines.size(),
                    store_.spectrum() + x * stride + lines.begin);
      }
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

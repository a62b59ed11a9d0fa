// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fft_pencil/sweeps.hpp"

#include <cmath>

#include "kernels/fft_pencil/blocked.hpp"
#include "kernels/fft_pencil/strided.hpp"

namespace halobench::fft {
namespace {

double number(std::int64_t count) { return static_cast<double>(count); }

double flops_a_value(std::int64_t size) { return 5 * std::log2(number(size)); }

}  // namespace

std::unique_ptr<Sweeps> make_sweeps(Layout layout, const Context& context, const Store& store,
                                    Planning planning) {
  if (layout == Layout::strided) return std::make_unique<Strided>(context, store, planning);
  return std::make_unique<Blocked>(context, store, planning);
}

double sweep_memory(Layout layout, const Pencils& pencils, std::int64_t threads) {
  return layout == Layout::strided ? Strided::memory(pencils) : Blocked::memory(pencils, threads);
}

double Sweeps::coefficients_z(const Range& planes) const {
  return number(planes.size() * store_.y().size() * pencils().half());
}

double Sweeps::coefficients_y(const Range& planes) const {
  return number(planes.size() * pencils().size[1] * store_.kz().size());
}

double Sweeps::coefficients_x() const {
  return number(pencils().size[0] * store_.spectrum_plane());
}

double Sweeps::real_bytes(const Range& planes) const {
  return sizeof(double) * number(planes.size() * store_.y().size() * pencils().size[2]);
}

double Sweeps::flops_z(const Range& planes) const {
  const auto values = number(planes.size() * store_.y().size() * pencils().size[2]);
  return values * flops_a_value(pencils().size[2]) / 2;
}

double Sweeps::flops_y(const Range& planes) const {
  return coefficients_y(planes) * flops_a_value(pencils().size[1]);
}

double Sweeps::flops_x() const { return coefficients_x() * flops_a_value(pencils().size[0]); }

double Sweeps::flops() const {
  const Range all{0, store_.planes()};
  return 2 * (flops_z(all) + flops_y(all) + flops_x());
}

Traffic Sweeps::traffic(double bytes, double flops) const {
  const Range all{0, store_.planes()};
  const double touched =
      2 * real_bytes(all) + sizeof(Complex) * (coefficients_y(all) + coefficients_x());
  return {bytes, flops, touched, bytes / 2};
}

}  // namespace halobench::fft

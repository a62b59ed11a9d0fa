// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/jacobi3d/mode.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numbers>

namespace halobench::jacobi {
namespace {

std::string text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific, 1)
                       .ptr;
  return {buffer.data(), end};
}

}  // namespace

Mode::Mode(const Cut& cut) {
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const auto n = cut.size[axis];
    const auto number = static_cast<double>(std::min(static_cast<std::int64_t>(axis) + 1, n));
    const double angle = cut.periodic ? 2 * std::numbers::pi * number / static_cast<double>(n)
                                      : std::numbers::pi * number / static_cast<double>(n + 1);
    for (std::int64_t i = 0; i < n; ++i) {
      waves_[axis].push_back(cut.periodic ? std::cos(angle * static_cast<double>(i) + 1)
                                          : std::sin(angle * static_cast<double>(i + 1)));
    }
    factor_ += std::cos(angle) / axes;
  }
}

double error_bound(std::int64_t sweeps, double epsilon) {
  // A mean of values up to 1 is rounded by at most 3 epsilon, and no mean makes an error larger.
  return 4 * epsilon * static_cast<double>(sweeps + 2);
}

std::string fault(const Answer& answer, std::int64_t sweeps, double epsilon) {
  const double bound = error_bound(sweeps, epsilon);
  if (!(answer.error_max <= bound)) {
    return "a value differs by " + text(answer.error_max) + " from the wave's after " +
           std::to_string(sweeps) + " sweeps; rounding allows " + text(bound);
  }
  if (!(answer.residual_error_max <= 2 * bound)) {
    return "in one more sweep, the change of a value differs by " +
           text(answer.residual_error_max) + " from the wave's; rounding allows " + text(2 * bound);
  }
  return "";
}

}  // namespace halobench::jacobi

// SPDX-License-Identifier: BSD-3-Clause
// A known answer: a wave that Jacobi's method makes smaller by the same factor in every sweep.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/as_size.hpp"
#include "kernels/jacobi3d/cut.hpp"

namespace halobench::jacobi {

/// An eigenvector of the mean of the six neighbours, with another wave number along each axis, so
/// that no two axes can be taken for each other. Between boundaries where it is 0 it is
/// sin(pi m (i + 1) / (n + 1)) along an axis of n points, on a ring cos(2 pi m i / n + 1); its
/// factor is the mean of cos(pi m / (n + 1)), or of cos(2 pi m / n), over the axes.
class Mode {
 public:
  explicit Mode(const Cut& cut);

  double at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return waves_[0][as_size(x)] * waves_[1][as_size(y)] * waves_[2][as_size(z)];
  }
  /// What so many sweeps make of it.
  double after(std::int64_t sweeps) const { return std::pow(factor_, static_cast<double>(sweeps)); }
  double factor() const { return factor_; }

 private:
  std::array<std::vector<double>, axes> waves_;
  double factor_ = 0;
};

/// Values against the mode, over all ranks.
struct Answer {
  double error_max = 0;           ///< the largest difference
  double residual_max = 0;        ///< the largest change by another sweep
  double residual_error_max = 0;  ///< and its largest difference from that of the mode
};

/// What rounding allows of the largest difference after so many sweeps.
double error_bound(std::int64_t sweeps, double epsilon);

/// Why `answer` is wrong after so many sweeps with values of that precision; empty if it is good.
std::string fault(const Answer& answer, std::int64_t sweeps, double epsilon);

}  // namespace halobench::jacobi

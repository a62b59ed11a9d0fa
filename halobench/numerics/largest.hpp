// SPDX-License-Identifier: BSD-3-Clause
// The largest of many errors.
#pragma once

#include <cmath>
#include <limits>

namespace halobench {

/// `most` is at least `value`; what is no number is above all, where std::max would pass over it.
inline void raise(double& most, double value) {
  if (std::isnan(value)) most = std::numeric_limits<double>::infinity();
  if (value > most) most = value;
}

}  // namespace halobench

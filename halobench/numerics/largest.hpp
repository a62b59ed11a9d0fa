// SPDX-License-Identifier: BSD-3-Clause
// The largest of many errors.
#pragma once

#include <cmath>
#include <limits>

namespace halobench {

/// Makes `most` at least `value`; NaN counts as infinity, whereas std::max would ignore it.
inline void raise(double& most, double value) {
  if (std::isnan(value)) most = std::numeric_limits<double>::infinity();
  if (value > most) most = value;
}

}  // namespace halobench

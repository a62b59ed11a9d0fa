// SPDX-License-Identifier: BSD-3-Clause
// The median of some numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace halobench {

/// The middle one of `numbers`, or the mean of the two in the middle; there is at least one.
inline double median_of(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const auto middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : 0.5 * (numbers[middle - 1] + numbers[middle]);
}

}  // namespace halobench

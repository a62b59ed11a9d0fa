// SPDX-License-Identifier: BSD-3-Clause
// Division by a number that is known before the loop: GPUs have no instruction for it.
#pragma once

#include <bit>
#include <cstdint>

#include "device/anywhere.hpp"

namespace halobench {

/// A divisor of numbers from 0 to `largest`. Numbers below 2^31 are multiplied by its reciprocal,
/// which a GPU does in a tenth of the instructions.
class Divisor {
 public:
  Divisor(std::int64_t divisor, std::int64_t largest) : divisor_(divisor) {
    constexpr int bits = 31;
    if (divisor < 1 || (largest | divisor) >> bits != 0) return;
    // With d <= 2^k, factor d exceeds 2^(31+k) by at most 2^k: too little for a number below 2^31
    // to reach the next quotient (Granlund, Montgomery: Division by invariant integers, 1994).
    shift_ = bits + std::bit_width(static_cast<std::uint32_t>(divisor - 1));
    factor_ = static_cast<std::uint32_t>(
        (std::uint64_t{1} << shift_) / static_cast<std::uint64_t>(divisor) + 1);
  }

  HALOBENCH_ANYWHERE std::int64_t quotient(std::int64_t number) const {
    if (factor_ == 0) return number / divisor_;
    return static_cast<std::int64_t>(std::uint64_t{static_cast<std::uint32_t>(number)} * factor_ >>
                                     shift_);
  }

  HALOBENCH_ANYWHERE std::int64_t value() const { return divisor_; }

 private:
  std::int64_t divisor_;
  std::uint32_t factor_ = 0;  ///< 0 where numbers are too large
  int shift_ = 0;
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Numbers that look random and depend on their place alone.
#pragma once

#include <cstdint>

namespace halobench {

/// 64 well-mixed bits (SplitMix64: G. Steele, D. Lea, C. Flood, OOPSLA 2014).
constexpr std::uint64_t hash(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// The k-th number of sequence i.
constexpr std::uint64_t hash(std::int64_t i, std::int64_t k) {
  return hash(hash(static_cast<std::uint64_t>(i)) ^ static_cast<std::uint64_t>(k));
}

/// Above 0 and at most 1.
constexpr double unit_interval(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11U) + 1.0) * 0x1p-53;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/pattern.hpp"

#include <cstring>

namespace halobench {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

/// The finaliser of SplitMix64 (Steele, Lea, Flood, 2014): every bit of the result depends on all.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void write(std::span<unsigned char> message, std::uint64_t seed, std::uint64_t flip) {
  if (message.empty()) return;  // and may have no address
  const auto words = message.size() / sizeof seed;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t word = (seed + i * golden) ^ flip;
    std::memcpy(message.data() + i * sizeof word, &word, sizeof word);
  }
  const std::uint64_t last = (seed + words * golden) ^ flip;
  std::memcpy(message.data() + words * sizeof last, &last, message.size() % sizeof last);
}

}  // namespace

std::uint64_t pattern_seed(std::initializer_list<std::int64_t> names) {
  std::uint64_t seed = 0;
  for (const auto name : names) seed = mix(seed + golden + static_cast<std::uint64_t>(name));
  return seed;
}

void write_pattern(std::span<unsigned char> message, std::uint64_t seed) {
  write(message, seed, 0);
}

void write_opposite(std::span<unsigned char> message, std::uint64_t seed) {
  write(message, seed, ~std::uint64_t{0});
}

bool has_pattern(std::span<const unsigned char> message, std::uint64_t seed) {
  if (message.empty()) return true;
  const auto words = message.size() / sizeof seed;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, message.data() + i * sizeof word, sizeof word);
    wrong |= word ^ (seed + i * golden);
  }
  const std::uint64_t last = seed + words * golden;
  return wrong == 0 && std::memcmp(message.data() + words * sizeof last, &last,
                                   message.size() % sizeof last) == 0;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// What messages carry: whole, cut short, changed, left over.
#include <vector>

#include "expect.hpp"
#include "mpi/pattern.hpp"

using halobench::has_pattern;
using halobench::pattern_seed;

namespace {

std::vector<unsigned char> message(std::size_t size, std::uint64_t seed) {
  std::vector<unsigned char> bytes(size);
  halobench::write_pattern(bytes, seed);
  return bytes;
}

void a_pattern_is_recognised() {
  for (const std::size_t size : {0, 1, 7, 8, 9, 64, 1001}) {
    expect::is_true(has_pattern(message(size, 42), 42), std::to_string(size) + " bytes");
  }
}

void any_changed_byte_is_seen() {
  for (const std::size_t size : {1, 8, 13, 100}) {
    for (std::size_t i = 0; i < size; ++i) {
      auto bytes = message(size, 7);
      bytes[i] ^= 1;
      expect::is_true(!has_pattern(bytes, 7),
                      "byte " + std::to_string(i) + " of " + std::to_string(size));
    }
  }
}

void another_message_is_not_taken_for_it() {
  expect::is_true(!has_pattern(message(8, 1), 2), "another seed");
  auto shifted = message(72, 1);
  shifted.erase(shifted.begin(), shifted.begin() + 8);
  expect::is_true(!has_pattern(shifted, 1), "moved by a word");
}

void the_opposite_shares_no_byte() {
  for (const std::size_t size : {1, 8, 21}) {
    const auto bytes = message(size, 9);
    std::vector<unsigned char> opposite(size);
    halobench::write_opposite(opposite, 9);
    for (std::size_t i = 0; i < size; ++i) expect::equal(opposite[i] ^ bytes[i], 0xff);
  }
}

void every_name_counts() {
  const auto seed = pattern_seed({1, 2, 3});
  expect::equal(pattern_seed({1, 2, 3}), seed);
  expect::is_true(pattern_seed({1, 3, 2}) != seed, "order");
  expect::is_true(pattern_seed({0, 2, 3}) != seed, "the first");
  expect::is_true(pattern_seed({1, 2}) != seed, "their number");
  expect::is_true(pattern_seed({0}) != pattern_seed({0, 0}), "zeros");
}

}  // namespace

int main() {
  a_pattern_is_recognised();
  any_changed_byte_is_seen();
  another_message_is_not_taken_for_it();
  the_opposite_shares_no_byte();
  every_name_counts();
  return expect::exit_code();
}

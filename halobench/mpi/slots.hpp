// SPDX-License-Identifier: BSD-3-Clause
// A row of equal places in one buffer, that messages use one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

#include "base/as_size.hpp"

namespace halobench {

/// Many slots are used in a scattered order, so that no prefetcher runs ahead of it.
class Slots {
 public:
  static constexpr std::int64_t line_bytes = 64;  ///< of a cache

  Slots() = default;
  /// `count` slots for messages of `size` bytes; `memory` has count * stride(size) bytes.
  Slots(unsigned char* memory, std::int64_t size, std::int64_t count)
      : memory_(memory), size_(size), count_(count), leap_(coprime_leap(count)) {}

  /// From one slot to the next: whole cache lines, and one more to keep slots off the same sets.
  static std::int64_t stride(std::int64_t size) {
    return (size + line_bytes - 1) / line_bytes * line_bytes + line_bytes;
  }

  std::int64_t count() const { return count_; }
  std::span<unsigned char> operator[](std::int64_t slot) const {
    return {memory_ + slot * stride(size_), as_size(size_)};
  }

  /// The next message's place.
  unsigned char* next() {
    ++used_;
    at_ = following(at_);
    return memory_ + at_ * stride(size_);
  }

  /// Begins the order again; no slot counts as used.
  void restart() { at_ = used_ = 0; }

  /// How often a slot was used since restart(); more often than there are slots: some twice.
  std::int64_t used() const { return used_; }

  /// `body(slot)` for the first `slots` that are used from restart() on, in that order; for every
  /// one where there are fewer.
  template <class Body>
  void for_first(std::int64_t slots, Body&& body) const {
    std::int64_t slot = 0;
    for (std::int64_t i = 0; i < std::min(slots, count_); ++i) body(slot = following(slot));
  }

  /// `body(slot)` for all others, in the order of their use too.
  template <class Body>
  void for_others(std::int64_t slots, Body&& body) const {
    std::int64_t slot = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      slot = following(slot);
      if (i >= slots) body(slot);
    }
  }

 private:
  /// About 0.618 of the way round, so that the order visits all slots, neighbours far apart in
  /// time.
  static std::int64_t coprime_leap(std::int64_t count) {
    auto leap = count * 618 / 1000 + 1;
    while (std::gcd(leap, count) != 1) ++leap;
    return leap % count;
  }

  std::int64_t following(std::int64_t slot) const {
    slot += leap_;
    return slot < count_ ? slot : slot - count_;
  }

  unsigned char* memory_ = nullptr;
  std::int64_t size_ = 0;
  std::int64_t count_ = 0;
  std::int64_t leap_ = 0;
  std::int64_t at_ = 0;
  std::int64_t used_ = 0;
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Indices of an array, in an order: as boxes where they form some, else as a list.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "machine/memory.hpp"

namespace halobench {

/// Indices one by one.
using Indices = std::vector<std::int64_t, HugePageAllocator<std::int64_t>>;

/// start + i + strides[0] j + strides[1] k, for i, j, k below the extents, i fastest: a sub-box of
/// a three-dimensional array (Zhang, Mills and Smith 2020, section 5.3). Strides may have
/// either sign, or be 0.
struct Box {
  std::int64_t start = 0;
  std::array<std::int64_t, 3> extents{0, 1, 1};
  std::array<std::int64_t, 2> strides{0, 0};

  std::int64_t count() const { return extents[0] * extents[1] * extents[2]; }
  bool operator==(const Box&) const = default;
};

/// Indices in the order in which they are used: boxes one after another, or a list.
struct IndexSet {
  std::int64_t count = 0;
  std::vector<Box> boxes;
  Indices list;  ///< empty where there are boxes

  /// start, start + 1, ... start + count - 1.
  static IndexSet run(std::int64_t start, std::int64_t count);
  /// One row without a gap. An empty set is one.
  bool is_run() const;
  std::int64_t first() const { return boxes.empty() ? list.front() : boxes.front().start; }
  /// The smallest and the largest; of a set that is not empty.
  std::pair<std::int64_t, std::int64_t> bounds() const;
  /// `body(index)` in their order.
  template <class Body>
  void for_each(Body&& body) const {
    for (const auto index : list) body(index);
    for (const auto& box : boxes) {
      for (std::int64_t k = 0; k < box.extents[2]; ++k) {
        for (std::int64_t j = 0; j < box.extents[1]; ++j) {
          const auto row = box.start + j * box.strides[0] + k * box.strides[1];
          for (std::int64_t i = 0; i < box.extents[0]; ++i) body(row + i);
        }
      }
    }
  }
  /// As numbers that deserialise() reads: a list is itself, not a copy, with its kind at the end.
  static Indices serialise(IndexSet set);
  static IndexSet deserialise(Indices numbers);

  bool operator==(const IndexSet&) const = default;
};

/// A set whose indices are counted from a place.
struct Placed {
  const IndexSet* set;
  std::int64_t place;
};

/// Whether some index is in these sets twice. Time grows with their rows and lists.
bool some_index_twice(const std::vector<Placed>& sets);

/// Indices in the order in which they are given: start, start + 1 ... or a list. A run takes no
/// memory however long it is.
class Sequence {
 public:
  Sequence() = default;
  Sequence(Indices list) : run_(list.empty()), count_(std::ssize(list)), list_(std::move(list)) {}
  static Sequence run(std::int64_t start, std::int64_t count);
  /// A list whose values are not set yet.
  static Sequence unset(std::int64_t count);

  bool is_run() const { return run_; }
  std::int64_t count() const { return count_; }
  std::int64_t start() const { return start_; }
  const Indices& list() const { return list_; }
  /// To set the values of a list; null where this is a run.
  std::int64_t* values() { return run_ ? nullptr : list_.data(); }
  /// As boxes where it is a run, else as the list that it is.
  IndexSet described() &&;

 private:
  bool run_ = true;
  std::int64_t start_ = 0;
  std::int64_t count_ = 0;
  Indices list_;
};

/// Where values come from and where they go, value by value. Either both sets have boxes of the
/// same extents, or at least one is a list, and the other a list or a run.
struct Route {
  IndexSet from;
  IndexSet to;
};

/// The route that takes from[i] to to[i]; both of the same length. One pass, and boxes only where
/// there are at least 8 indices in one on average, from the beginning: a list costs less than short
/// rows.
Route route(Sequence from, Sequence to);

/// The route from these indices to a buffer where they lie one after another.
Route packing(Sequence from);
Route packing(IndexSet from);

}  // namespace halobench

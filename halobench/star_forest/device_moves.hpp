// SPDX-License-Identifier: BSD-3-Clause
// Packing, unpacking and scattering as a device does them: one value by itself, whatever the
// others do.
#pragma once

#include <cstdint>

#include "device/anywhere.hpp"
#include "device/at_once.hpp"
#include "device/divisor.hpp"
#include "star_forest/index_set.hpp"
#include "star_forest/space.hpp"

namespace halobench {

/// Indices of one end of a segment: of a box, or of a list in the device's memory.
struct DeviceIndices {
  Box box;
  Divisor row_length, rows;            ///< of the box
  const std::int64_t* list = nullptr;  ///< null for a box

  explicit DeviceIndices(const Box& of)
      : box(of), row_length(of.extents[0], of.count()), rows(of.extents[1], of.count()) {}

  /// Index: the type that it is computed in, which holds all of them. A GPU multiplies numbers of
  /// 32 bits several times as fast as those of 64.
  template <class Index>
  HALOBENCH_ANYWHERE Index at(Index i) const {
    const auto start = static_cast<Index>(box.start);
    if (list != nullptr) return static_cast<Index>(list[i]) + start;
    if (box.extents[1] * box.extents[2] == 1) return start + i;
    const auto row = static_cast<Index>(row_length.quotient(i));
    const auto plane = static_cast<Index>(rows.quotient(row));
    return start + i - row * static_cast<Index>(row_length.value()) +
           (row - plane * static_cast<Index>(rows.value())) * static_cast<Index>(box.strides[0]) +
           plane * static_cast<Index>(box.strides[1]);
  }
};

/// Units that a device moves together with those of other segments: both ends have boxes of the
/// same extents, or one a list.
struct DeviceSegment {
  std::int64_t begin;  ///< its first unit, counted over all segments
  DeviceIndices near;  ///< in the array that routes begin in
  DeviceIndices far;   ///< in the one that they lead to
};

/// Moves value i of the units from `first` on: neighbours lie side by side in rows and in messages,
/// so that a GPU's neighbouring threads touch neighbouring memory. Values that meet at one place
/// join it in the order of their numbers where a device takes them in that order, and in any order
/// where it takes them at once. Index: what indices are computed in.
template <class Value, class Index>
struct DeviceMove {
  const DeviceSegment* segments;
  std::int64_t segment_count;
  std::int64_t first;
  std::int64_t width;
  bool forth;
  bool meeting;  ///< some values may go to the same place
  Operation operation;
  const Value* from;
  Value* to;

  HALOBENCH_ANYWHERE void operator()(std::int64_t number) const {
    const auto i = static_cast<Index>(number);
    const auto wide = static_cast<Index>(width);
    const auto unit = static_cast<Index>(first) + (wide == 1 ? i : i / wide);
    const auto value = wide == 1 ? Index{0} : i % wide;
    const auto& segment = segment_of(unit);
    const auto place = unit - static_cast<Index>(segment.begin);
    const auto near = segment.near.at(place) * wide + value;
    const auto far = segment.far.at(place) * wide + value;
    const auto arrived = from[forth ? near : far];
    auto& there = to[forth ? far : near];
    if (operation == Operation::replace) {
      there = arrived;
    } else if (meeting && operation == Operation::sum) {
      add_at_once(there, arrived);
    } else if (meeting) {
      join_at_once(there, arrived, *this);
    } else {
      there = (*this)(there, arrived);
    }
  }

  /// What two values that meet become.
  HALOBENCH_ANYWHERE Value operator()(Value there, Value arrived) const {
    if (operation == Operation::sum) return there + arrived;
    if (operation == Operation::min) return arrived < there ? arrived : there;
    return there < arrived ? arrived : there;
  }

 private:
  /// The last one that begins there or before.
  HALOBENCH_ANYWHERE const DeviceSegment& segment_of(Index unit) const {
    Index low = 0;
    auto high = static_cast<Index>(segment_count);
    while (high - low > 1) {
      const Index middle = (low + high) / 2;
      (segments[middle].begin <= unit ? low : high) = middle;
    }
    return segments[low];
  }
};

}  // namespace halobench

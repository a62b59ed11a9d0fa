// SPDX-License-Identifier: BSD-3-Clause
// Packing, unpacking and scattering as a device does them: one value by itself, whatever the
// others do.
#pragma once

#include <cstdint>

#include "device/anywhere.hpp"
#include "device/at_once.hpp"
#include "star_forest/index_set.hpp"
#include "star_forest/space.hpp"

namespace halobench {

/// Indices of one end of a segment: of a box, or of a list in the device's memory.
struct DeviceIndices {
  Box box;
  const std::int64_t* list;  ///< null for a box

  HALOBENCH_ANYWHERE std::int64_t operator[](std::int64_t i) const {
    if (list != nullptr) return list[i] + box.start;
    const auto rows = box.extents[1] * box.extents[2];
    if (rows == 1) return box.start + i;
    const auto row = i / box.extents[0];
    return box.start + i % box.extents[0] + row % box.extents[1] * box.strides[0] +
           row / box.extents[1] * box.strides[1];
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
/// where it takes them at once.
template <class Value>
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

  HALOBENCH_ANYWHERE void operator()(std::int64_t i) const {
    const auto unit = first + (width == 1 ? i : i / width);
    const auto value = width == 1 ? 0 : i % width;
    const auto& segment = segment_of(unit);
    const auto place = unit - segment.begin;
    const auto near = segment.near[place] * width + value;
    const auto far = segment.far[place] * width + value;
    const auto arrived = from[forth ? near : far];
    auto& there = to[forth ? far : near];
    if (operation == Operation::replace) {
      there = arrived;
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
  HALOBENCH_ANYWHERE const DeviceSegment& segment_of(std::int64_t unit) const {
    std::int64_t low = 0;
    std::int64_t high = segment_count;
    while (high - low > 1) {
      const auto middle = (low + high) / 2;
      (segments[middle].begin <= unit ? low : high) = middle;
    }
    return segments[low];
  }
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Boxes of grid points between arrays that hold larger ones: x fastest, then y, then z.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/md_pppm/system.hpp"

namespace halobench::md {

/// body(place, count) for each line along x of `box`: where it begins in an array that holds
/// `whole`, and how many points it has.
template <class Body>
void for_lines(const Box& whole, const Box& box, Body&& body) {
  for (auto z = box[2].begin; z < box[2].end; ++z) {
    for (auto y = box[1].begin; y < box[1].end; ++y) {
      const auto line = (z - whole[2].begin) * whole[1].size() + y - whole[1].begin;
      body(line * whole[0].size() + box[0].begin - whole[0].begin, box[0].size());
    }
  }
}

/// From an array that holds `whole` to one that holds `box` alone.
inline void gather(const double* from, const Box& whole, const Box& box, std::int64_t values,
                   double* to) {
  for_lines(whole, box, [&](std::int64_t place, std::int64_t count) {
    to = std::copy_n(from + place * values, count * values, to);
  });
}

/// And back.
inline void scatter(const double* from, double* to, const Box& whole, const Box& box,
                    std::int64_t values) {
  for_lines(whole, box, [&](std::int64_t place, std::int64_t count) {
    std::copy_n(from, count * values, to + place * values);
    from += count * values;
  });
}

/// From an array that holds one box to an array that holds another: `box` is in both.
inline void copy(const double* from, const Box& source, double* to, const Box& target,
                 const Box& box, std::int64_t values) {
  for (auto z = box[2].begin; z < box[2].end; ++z) {
    const Box plane{box[0], box[1], Range{z, z + 1}};
    auto y = box[1].begin;
    for_lines(source, plane, [&](std::int64_t place, std::int64_t count) {
      const auto line = (z - target[2].begin) * target[1].size() + y++ - target[1].begin;
      const auto at = line * target[0].size() + box[0].begin - target[0].begin;
      std::copy_n(from + place * values, count * values, to + at * values);
    });
  }
}

}  // namespace halobench::md

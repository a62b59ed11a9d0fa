// SPDX-License-Identifier: BSD-3-Clause
// A brick of elements shared out over ranks by recursive bisection.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/rank_grid.hpp"
#include "numerics/grid.hpp"

namespace halobench::heat {

/// Ranges along x, y and z, of elements or of nodes.
using Brick = std::array<Range, 3>;

std::int64_t volume(const Brick& brick);
Brick intersection(const Brick& a, const Brick& b);
/// One layer more on every side.
Brick grown(Brick brick);

/// Halves of a box are cut across its longest axis (of several, z before y before x), in the
/// proportion of the ranks that they are for, until each rank has one. Any number of ranks up to
/// that of the elements; boxes differ by some layers if they cannot be equal.
class Bisection {
 public:
  /// `ranks`: at most as many as there are elements.
  Bisection(const Extents& elements, std::int64_t ranks) : elements_(elements), ranks_(ranks) {}

  const Extents& elements() const { return elements_; }
  std::int64_t ranks() const { return ranks_; }

  Brick box(std::int64_t rank) const;
  /// The ranks whose boxes have some of `elements`, ascending.
  std::vector<std::int64_t> ranks_with(const Brick& elements) const;

 private:
  /// A box, and the ranks that share it.
  struct Share {
    Brick box;
    Range ranks;
  };

  Share whole() const;
  static std::pair<Share, Share> halves(const Share& share);
  static void find(const Share& share, const Brick& elements, std::vector<std::int64_t>& ranks);

  Extents elements_;
  std::int64_t ranks_;
};

}  // namespace halobench::heat

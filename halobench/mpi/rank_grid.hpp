// SPDX-License-Identifier: BSD-3-Clause
// Ranks in a grid of up to three dimensions, and how such a grid is chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/extents.hpp"

namespace halobench {

/// What is wrong with a grid of `asked` ranks where there are `ranks`, and its remedy, to which the
/// caller adds what else may be given; nothing where they are as many.
std::optional<std::string> other_ranks(const Extents& asked, std::int64_t ranks);

/// The most even way to write `ranks` as a product of `dimensions` numbers, largest first: the one
/// with the smallest sum, as MPI_Dims_create gives it; but known without MPI, before anything is
/// launched.
Extents most_even(std::int64_t ranks, int dimensions);

/// A grid of ranks, numbered as MPI_Cart_create does: the last axis fastest. Along a periodic
/// grid's axes the last rank's neighbour is the first.
class RankGrid {
 public:
  /// One rank.
  RankGrid() = default;
  explicit RankGrid(const Extents& extents, bool periodic = false)
      : extents_(extents), periodic_(periodic) {}

  /// Ranks along an axis.
  std::int64_t extent(std::size_t axis) const { return extents_[axis]; }
  std::int64_t ranks() const { return extents_[0] * extents_[1] * extents_[2]; }
  Extents coordinates(std::int64_t rank) const;
  /// The rank that many steps along an axis, fewer than there are ranks, perhaps `rank` itself;
  /// MPI_PROC_NULL beyond the edge of a grid that is not periodic.
  int neighbour(std::int64_t rank, std::size_t axis, int step) const;

 private:
  Extents extents_{1, 1, 1};
  bool periodic_ = false;
};

}  // namespace halobench

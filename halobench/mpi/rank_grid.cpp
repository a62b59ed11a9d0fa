// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rank_grid.hpp"

#include <mpi.h>

#include <utility>

namespace halobench {
namespace {

/// The smaller one of the two factors of `number` that are closest to each other.
std::int64_t smaller_factor(std::int64_t number) {
  std::int64_t factor = 1;
  for (std::int64_t divisor = 1; divisor <= number / divisor; ++divisor) {
    if (number % divisor == 0) factor = divisor;
  }
  return factor;
}

}  // namespace

std::optional<std::string> other_ranks(const Extents& asked, std::int64_t ranks) {
  const auto product = volume(asked);
  if (product == ranks) return std::nullopt;
  return (product ? std::to_string(*product) : "more than 2^63") +
         " ranks requested, but there are " + std::to_string(ranks) +
         "; give numbers with the product " + std::to_string(ranks);
}

Extents most_even(std::int64_t ranks, int dimensions) {
  Extents best{ranks, 1, 1};
  if (dimensions == 1) return best;
  const auto sum = [](const Extents& extents) { return extents[0] + extents[1] + extents[2]; };
  for (std::int64_t z = 1; z <= (dimensions == 2 ? 1 : ranks / z / z); ++z) {
    if (ranks % z != 0) continue;
    const auto y = smaller_factor(ranks / z);
    const Extents found{ranks / z / y, y, z};
    if (y >= z && std::pair(sum(found), found[0]) < std::pair(sum(best), best[0])) best = found;
  }
  return best;
}

Extents RankGrid::coordinates(std::int64_t rank) const {
  return {rank / (extents_[1] * extents_[2]), rank / extents_[2] % extents_[1], rank % extents_[2]};
}

int RankGrid::neighbour(std::int64_t rank, std::size_t axis, int step) const {
  auto at = coordinates(rank);
  at[axis] += step;
  if (periodic_) at[axis] = (at[axis] + extents_[axis]) % extents_[axis];
  if (at[axis] < 0 || at[axis] >= extents_[axis]) return MPI_PROC_NULL;
  return static_cast<int>((at[0] * extents_[1] + at[1]) * extents_[2] + at[2]);
}

}  // namespace halobench

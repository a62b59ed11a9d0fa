// SPDX-License-Identifier: BSD-3-Clause
// Grids of ranks: parsing, evenness, numbering, neighbours.
#include <mpi.h>

#include <array>

#include "expect.hpp"
#include "mpi/rank_grid.hpp"

using halobench::Extents;
using halobench::most_even;
using halobench::parse_extents;
using halobench::RankGrid;
using halobench::to_string;
using halobench::volume;

namespace {

void extents_are_parsed() {
  expect::equal(to_string(*parse_extents("2400x100x100")), "2400x100x100");
  expect::equal(to_string(*parse_extents("7x3")), "7x3x1");
  expect::equal(to_string(*parse_extents("5")), "5x1x1");
  for (const auto* text :
       {"", "x", "0x1x1", "-2x3", "2x3x4x5", "2x", "2x3 ", "a", "2*3", "9223372036854775808"}) {
    expect::is_true(!parse_extents(text), std::string("'") + text + "' is not a grid");
  }
}

void volumes_do_not_overflow() {
  expect::equal(*volume({2400, 100, 100}), 24000000);
  const std::int64_t large = std::int64_t{1} << 31;
  expect::equal(*volume({large, large, 1}), std::int64_t{1} << 62);
  expect::is_true(!volume({large, large, 2}), "2^63");
  expect::is_true(!volume({large, large, large}), "2^93");
}

/// What MPI_Dims_create gives, by its own description: as close to each other as can be, in
/// non-increasing order.
void the_most_even_grid_is_found() {
  expect::equal(to_string(most_even(24, 1)), "24x1x1");
  expect::equal(to_string(most_even(24, 2)), "6x4x1");
  expect::equal(to_string(most_even(24, 3)), "4x3x2");
  expect::equal(to_string(most_even(7, 3)), "7x1x1");
  expect::equal(to_string(most_even(1, 3)), "1x1x1");
  expect::equal(to_string(most_even(36, 3)), "4x3x3");
  expect::equal(to_string(most_even(2048, 2)), "64x32x1");
  expect::equal(to_string(most_even(4096, 3)), "16x16x16");
}

/// The smallest sum of all products; of equals, the one with the smallest first number.
void no_other_grid_is_more_even() {
  for (std::int64_t ranks = 1; ranks <= 300; ++ranks) {
    std::array<Extents, 2> best{Extents{ranks, 1, 1}, Extents{ranks, 1, 1}};  // 2d, 3d
    for (std::int64_t x = 1; x <= ranks; ++x) {
      for (std::int64_t y = 1; y <= x; ++y) {
        const auto z = ranks / (x * y);
        if (z < 1 || z > y || x * y * z != ranks) continue;
        const auto larger = [&](const Extents& other) {
          return x + y + z < other[0] + other[1] + other[2];
        };
        if (z == 1 && larger(best[0])) best[0] = {x, y, z};
        if (larger(best[1])) best[1] = {x, y, z};
      }
    }
    expect::equal(to_string(most_even(ranks, 2)), to_string(best[0]));
    expect::equal(to_string(most_even(ranks, 3)), to_string(best[1]));
  }
  expect::equal(to_string(most_even(2147483647, 2)), "2147483647x1x1");  // at once
}

void the_last_axis_is_numbered_fastest() {
  const RankGrid grid({4, 3, 2});
  expect::equal(grid.ranks(), 24);
  for (std::int64_t rank = 0; rank < 24; ++rank) {
    const auto [x, y, z] = grid.coordinates(rank);
    expect::equal((x * 3 + y) * 2 + z, rank);
    expect::is_true(x < 4 && y < 3 && z < 2, "inside the grid");
  }
}

void neighbours_are_one_step_along_an_axis() {
  const RankGrid grid({3, 2, 1});  // rank 3 is in the middle row, on the right
  expect::equal(grid.neighbour(3, 0, -1), 1);
  expect::equal(grid.neighbour(3, 0, 1), 5);
  expect::equal(grid.neighbour(3, 1, -1), 2);
  expect::equal(grid.neighbour(3, 1, 1), MPI_PROC_NULL);
  expect::equal(grid.neighbour(3, 2, 1), MPI_PROC_NULL);
  expect::equal(grid.neighbour(0, 0, -1), MPI_PROC_NULL);
}

void a_periodic_grid_has_no_edge() {
  const RankGrid grid({3, 2, 1}, true);
  expect::equal(grid.neighbour(3, 1, 1), 2);
  expect::equal(grid.neighbour(0, 0, -1), 4);
  expect::equal(grid.neighbour(4, 0, 1), 0);
  expect::equal(grid.neighbour(3, 2, -1), 3);
}

}  // namespace

int main() {
  extents_are_parsed();
  volumes_do_not_overflow();
  the_most_even_grid_is_found();
  no_other_grid_is_more_even();
  the_last_axis_is_numbered_fastest();
  neighbours_are_one_step_along_an_axis();
  a_periodic_grid_has_no_edge();
  return expect::exit_code();
}

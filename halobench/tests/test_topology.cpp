// Grids of ranks: parsing, evenness, numbering.
#include "expect.hpp"
#include "mpi/topology.hpp"

using halobench::coordinates;
using halobench::Extents;
using halobench::most_even;
using halobench::parse_extents;
using halobench::to_string;
using halobench::volume;

namespace {

void extents_are_parsed() {
  expect::equal(to_string(*parse_extents("2400x100x100")), "2400x100x100");
  expect::equal(to_string(*parse_extents("7x3")), "7x3x1");
  expect::equal(to_string(*parse_extents("5")), "5x1x1");
  for (const auto* text :
       {"", "x", "0x1x1", "-2x3", "2x3x4x5", "2x", "2x3 ", "a", "2*3", "9223372036854775808"}) {
    expect::is_true(!parse_extents(text), std::string("'") + text + "' is no grid");
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

void z_is_numbered_fastest() {
  const Extents ranks{4, 3, 2};
  for (std::int64_t rank = 0; rank < 24; ++rank) {
    const auto [x, y, z] = coordinates(ranks, rank);
    expect::equal((x * 3 + y) * 2 + z, rank);
    expect::is_true(x < 4 && y < 3 && z < 2, "inside the grid");
  }
}

}  // namespace

int main() {
  extents_are_parsed();
  volumes_do_not_overflow();
  the_most_even_grid_is_found();
  z_is_numbered_fastest();
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
// How jacobi3d cuts its mesh: the columns k and c of the report's tables IV to XI, the grids of
// ranks it chooses, what it refuses; and the decay of its known answer.
#include <cmath>

#include "command.hpp"
#include "expect.hpp"
#include "kernels/jacobi3d/cut.hpp"
#include "kernels/jacobi3d/mode.hpp"

using namespace halobench;
using namespace halobench::jacobi;

namespace {

void published_k_and_c_are_met() {
  struct Published {
    Extents topology;
    std::int64_t k;
    double c_bytes;
  };
  for (const auto& [topology, k, c] : std::vector<Published>{{{1, 1, 1}, 0, 0},
                                                             {{4, 1, 1}, 2, 46.08e6},
                                                             {{2, 2, 1}, 4, 92.16e6},
                                                             {{5, 5, 1}, 4, 92.16e6},
                                                             {{12, 1, 1}, 2, 46.08e6},
                                                             {{2, 2, 2}, 6, 138.24e6},
                                                             {{3, 2, 2}, 6, 138.24e6},
                                                             {{4, 4, 3}, 6, 138.24e6}}) {
    const auto found = exchanged({1200, 1200, 1200}, topology, sizeof(double));
    expect::equal(found.faces, k);
    expect::equal(found.bytes, c);
  }
}

struct Asked {
  Cut cut;
  std::string problems;
};

Asked ask(std::int64_t ranks, std::vector<std::string> arguments) {
  std::vector<Problem> problems;
  const Params params(find_kernel("jacobi3d").parameters, arguments, problems);
  expect::equal(problems.size(), 0U);
  Asked asked{parse_cut(params, ranks, problems), ""};
  for (const auto& problem : problems) {
    asked.problems += problem.key + "=" + problem.value + ": " + problem.message + "\n";
  }
  return asked;
}

void the_grid_of_ranks_exchanges_least() {
  const auto grid = [](std::int64_t ranks, const std::string& size) {
    return to_string(ask(ranks, {"size=" + size}).cut.topology);
  };
  expect::equal(grid(8, "cubes"), "8x1x1");        // every cut axis costs as much
  expect::equal(grid(8, "400x400x400"), "4x2x1");  // as 2x2x2 does, in fewer messages
  expect::equal(grid(27, "400x400x400"), "3x3x3");
  expect::equal(grid(64, "400x400x400"), "4x4x4");
  expect::equal(grid(4, "100x400x100"), "1x4x1");
  expect::equal(grid(4, "1x1x4"), "1x1x4");
  expect::equal(to_string(ask(8, {"L=30"}).cut.size), "240x30x30");
  expect::equal(to_string(ask(8, {"L=30", "topology=2x2x2"}).cut.size), "60x60x60");
  expect::equal(to_string(ask(12, {"L=30", "topology=1d"}).cut.topology), "12x1x1");
  expect::equal(to_string(ask(12, {"L=30", "topology=3d"}).cut.topology), "3x2x2");
}

void every_point_has_one_rank() {
  const auto cut = ask(12, {"size=7x5x6", "topology=3x2x2"}).cut;
  std::int64_t found = 0;
  for (int rank = 0; rank < 12; ++rank) {
    const auto box = cut.box(rank);
    found += points_of(box);
    expect::equal(points_of(box), points_of(cut.part(rank).own()));
  }
  expect::equal(found, 7 * 5 * 6);
}

void neighbours_agree() {
  for (const std::string boundary : {"dirichlet", "periodic"}) {
    const auto cut = ask(12, {"L=5", "topology=3x2x2", "boundary=" + boundary}).cut;
    for (int rank = 0; rank < 12; ++rank) {
      for (std::size_t axis = 0; axis < axes; ++axis) {
        const int up = cut.grid().neighbour(rank, axis, 1);
        expect::is_true(up >= 0 || boundary == "dirichlet", "a ring has an end");
        if (up >= 0) expect::equal(cut.grid().neighbour(up, axis, -1), rank);
        expect::equal(cut.part(rank).open[axis][1], up >= 0);
      }
    }
  }
}

void pieces_cover_what_is_left() {
  const Box whole{{{-1, 9}, {0, 7}, {0, 8}}};
  const auto left = [&](const Box& inner) {
    std::int64_t points = 0;
    for (const auto& piece : around(whole, inner)) points += points_of(piece);
    return points;
  };
  expect::equal(left({{{2, 6}, {0, 7}, {1, 7}}}), 10 * 7 * 8 - 4 * 7 * 6);
  expect::equal(left({{{4, 3}, {0, 7}, {1, 7}}}), 10 * 7 * 8);
  expect::equal(left(whole), 0);
}

void bad_cuts_are_refused() {
  const auto refused = [](std::int64_t ranks, const std::vector<std::string>& arguments,
                          const std::string& why) {
    expect::contains(ask(ranks, arguments).problems, why);
  };
  refused(8, {"topology=4x1x1"},
          "topology=4x1x1: 4 ranks requested, but there are 8; give numbers with the product 8, "
          "such as 2x2x2, or auto");
  refused(8, {"topology=4y1"},
          "topology=4y1: give auto, 1d, 2d, 3d, or ranks along x, y, and z, such as 4x1x1");
  refused(2, {"size=0x4x4"}, "size=0x4x4: give points along x, y, and z, such as 400x400x400");
  refused(4, {"size=8x2x8", "topology=1x4x1"},
          "size=8x2x8: fewer points than ranks along y (4); use fewer ranks there");
  refused(7, {"size=2x2x2"}, "size=2x2x2: fewer points than ranks along every axis");
  refused(1, {"size=4000000x4000000x4000000"}, "more than 2^63 points");
  refused(
      3, {"size=20x20x20", "topology=3x1x1", "variant=temporal", "depth=7"},
      "depth=7: more sweeps per exchange than points along an axis of the smallest box; give at "
      "most 6");
  refused(1, {"size=20x3x20", "boundary=periodic", "depth=4"}, "give at most 3");
  refused(1, {"size=20x3x20", "depth=4"}, "give at most 3");
}

void depth_follows_the_variant() {
  expect::equal(ask(1, {"variant=plain"}).cut.depth, 1);
  expect::equal(ask(1, {"variant=temporal"}).cut.depth, 8);
  expect::equal(ask(3, {"variant=temporal", "size=20x30x30", "topology=3x1x1"}).cut.depth, 6);
  expect::equal(ask(1, {"variant=plain", "depth=3"}).cut.depth, 3);
}

/// The mean of the six neighbours is the mode times its factor.
void the_mode_decays_exactly() {
  for (const std::string boundary : {"dirichlet", "periodic"}) {
    const auto cut = ask(1, {"size=6x7x8", "boundary=" + boundary}).cut;
    const Mode mode(cut);
    const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      if (cut.periodic) return mode.at((x + 6) % 6, (y + 7) % 7, (z + 8) % 8);
      const bool inside = x >= 0 && x < 6 && y >= 0 && y < 7 && z >= 0 && z < 8;
      return inside ? mode.at(x, y, z) : 0.0;
    };
    double worst = 0;
    for (std::int64_t x = 0; x < 6; ++x) {
      for (std::int64_t y = 0; y < 7; ++y) {
        for (std::int64_t z = 0; z < 8; ++z) {
          const double mean = (at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) +
                               at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1)) /
                              6;
          worst = std::max(worst, std::abs(mean - mode.after(1) * mode.at(x, y, z)));
        }
      }
    }
    expect::is_true(worst < 1e-15, boundary + ": not an eigenvector");
  }
}

void a_wrong_answer_says_why() {
  expect::equal(fault({1e-15, 0.1, 1e-15}, 5, 2.2e-16), "");
  expect::contains(fault({1e-9, 0.1, 0}, 5, 2.2e-16),
                   "a value differs by 1.0e-09 from the wave's after 5 sweeps; rounding allows "
                   "6.2e-15");
  expect::contains(fault({0, 0.1, 1e-9}, 5, 2.2e-16),
                   "in one more sweep, the change of a value differs by 1.0e-09");
  expect::contains(fault({std::nan(""), 0.1, 0}, 5, 2.2e-16), "a value differs by nan");
}

}  // namespace

int main() {
  published_k_and_c_are_met();
  the_grid_of_ranks_exchanges_least();
  every_point_has_one_rank();
  neighbours_agree();
  pieces_cover_what_is_left();
  bad_cuts_are_refused();
  depth_follows_the_variant();
  the_mode_decays_exactly();
  a_wrong_answer_says_why();
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/md_pppm/system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

namespace halobench::md {
namespace {

constexpr int order = 5;                      ///< points along each axis that an atom reaches
constexpr std::int64_t below = 2;             ///< of them on one side of the nearest
constexpr double accuracy = 1e-4;             ///< of forces, over that of two unit charges
constexpr double coulomb = 332.06371;         ///< kcal A / (mol e^2): units real
constexpr double charges_squared = 5807.767;  ///< e^2; sum over the atoms of data.rhodo
constexpr std::int64_t most_copies = std::int64_t{1} << 40;
constexpr std::int64_t most_sent_values = 8;  ///< of an atom that becomes a ghost

/// Coefficients of the error of an interpolation of that order (Deserno and Holm, table I).
constexpr std::array series{1.0 / 23232, 7601.0 / 13628160, 143.0 / 69120, 517231.0 / 106536960,
                            106640677.0 / 11737571328};

double number(std::int64_t count) { return static_cast<double>(count); }

Lengths box_of(const Extents& copies) {
  Lengths box = System::copy_lengths;
  for (std::size_t axis = 0; axis < 3; ++axis) box[axis] *= number(copies[axis]);
  return box;
}

bool factorable(std::int64_t points) {
  for (const std::int64_t prime : {2, 3, 5}) {
    while (points % prime == 0) points /= prime;
  }
  return points == 1;
}

/// The larger factor last, both as near to the root as can be.
std::array<std::int64_t, 2> near_root(std::int64_t ranks) {
  auto first = static_cast<std::int64_t>(std::sqrt(number(ranks)));
  while (ranks % first != 0) --first;
  return {first, ranks / first};
}

/// Ranks over y and z so that what each has of a plane across x has the smallest perimeter.
std::array<std::int64_t, 2> lines_along_x(std::int64_t ranks, std::int64_t ny, std::int64_t nz) {
  std::array<std::int64_t, 2> best{1, ranks};
  std::array<std::int64_t, 2> least{std::numeric_limits<std::int64_t>::max(), 0};
  for (std::int64_t over_y = 1; over_y <= ranks; ++over_y) {
    if (ranks % over_y != 0) continue;
    const auto over_z = ranks / over_y;
    const auto y = (ny + over_y - 1) / over_y;
    const auto z = (nz + over_z - 1) / over_z;
    const std::array found{y + z, -y * z};
    if (found >= least) continue;
    least = found;
    best = {over_y, over_z};
  }
  return best;
}

/// Part `index` of so many, its ends rounded down.
Range rounded(std::int64_t points, std::int64_t parts, std::int64_t index) {
  return {index * points / parts, (index + 1) * points / parts};
}

}  // namespace

std::int64_t points(const Box& box) { return box[0].size() * box[1].size() * box[2].size(); }

Box common(const Box& one, const Box& other) {
  Box both;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto begin = std::max(one[axis].begin, other[axis].begin);
    both[axis] = {begin, std::max(begin, std::min(one[axis].end, other[axis].end))};
  }
  return both;
}

Extents pppm_grid(const Extents& copies) {
  const auto box = box_of(copies);
  const double cells = number(copies[0]) * number(copies[1]) * number(copies[2]);
  const double atoms = number(System::copy_atoms) * cells;
  const double charges = coulomb * charges_squared * cells;
  const double tolerance = accuracy * coulomb;
  const double volume = box[0] * box[1] * box[2];
  const double split =
      std::sqrt(-std::log(tolerance * std::sqrt(atoms * System::cutoff * volume) / (2 * charges))) /
      System::cutoff;
  Extents grid;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto error = [&](double spacing) {
      double sum = 0;
      for (std::size_t m = 0; m < series.size(); ++m) {
        sum += series[m] * std::pow(spacing * split, 2 * static_cast<double>(m));
      }
      return charges * std::pow(spacing * split, order) *
             std::sqrt(split * box[axis] * std::sqrt(2 * std::numbers::pi) * sum / atoms) /
             (box[axis] * box[axis]);
    };
    auto& along = grid[axis];
    along = static_cast<std::int64_t>(box[axis] * split) + 1;
    double spacing = 1 / split;
    // As LAMMPS has it: the error of the last spacing ends the search after one point more.
    for (double found = error(spacing); found > tolerance; spacing = box[axis] / number(++along)) {
      found = error(spacing);
    }
    while (!factorable(along)) ++along;
  }
  return grid;
}

Extents smallest_surface(std::int64_t ranks, const Lengths& box) {
  const std::array across{box[0] * box[1], box[0] * box[2], box[1] * box[2]};
  const auto surface = [&](const Extents& cut) {
    return across[0] / number(cut[0] * cut[1]) + across[1] / number(cut[0] * cut[2]) +
           across[2] / number(cut[1] * cut[2]);
  };
  Extents best{1, 1, ranks};
  for (std::int64_t x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (std::int64_t y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const Extents found{x, y, ranks / x / y};
      if (surface(found) < surface(best)) best = found;
    }
  }
  return best;
}

System::System(const Extents& copies, std::int64_t ranks)
    : copies_(copies),
      bricks_(smallest_surface(ranks, box_of(copies)), true),
      grid_(pppm_grid(copies)),
      along_x_(lines_along_x(ranks, grid_[1], grid_[2])),
      inside_(near_root(ranks)) {}

double System::points() const { return number(grid_[0]) * number(grid_[1]) * number(grid_[2]); }

Lengths System::lengths() const {
  auto lengths = box_of(copies_);
  for (std::size_t axis = 0; axis < 3; ++axis) lengths[axis] /= number(bricks_.extent(axis));
  return lengths;
}

double System::atoms() const {
  return number(copy_atoms) * number(copies_[0]) * number(copies_[1]) * number(copies_[2]);
}

std::int64_t System::atoms_of_a_rank() const {
  return static_cast<std::int64_t>(std::ceil(atoms() / number(ranks())));
}

Box System::part(Layout layout, std::int64_t rank) const {
  const auto first = rank % inside_[0];
  const auto second = rank / inside_[0];
  Box box{Range{0, grid_[0]}, Range{0, grid_[1]}, Range{0, grid_[2]}};
  switch (layout) {
    case Layout::bricks: {
      const auto at = bricks_.coordinates(rank);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        box[axis] = rounded(grid_[axis], bricks_.extent(axis), at[axis]);
      }
      return box;
    }
    case Layout::along_x:
      box[1] = rounded(grid_[1], along_x_[0], rank % along_x_[0]);
      box[2] = rounded(grid_[2], along_x_[1], rank / along_x_[0]);
      return box;
    case Layout::along_y:
      box[0] = rounded(grid_[0], inside_[0], first);
      box[2] = rounded(grid_[2], inside_[1], second);
      return box;
    case Layout::along_z:
      box[0] = rounded(grid_[0], inside_[0], first);
      box[1] = rounded(grid_[1], inside_[1], second);
      return box;
  }
  return box;
}

Box System::with_ghosts(std::int64_t rank) const {
  const auto at = bricks_.coordinates(rank);
  const auto box = box_of(copies_);
  Box around;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double a_point = box[axis] / number(grid_[axis]);
    const double length = box[axis] / number(bricks_.extent(axis));
    const double begin = number(at[axis]) * length - skin / 2;  // atoms may have left the brick
    const double end = number(at[axis] + 1) * length + skin / 2;
    const auto nearest = [&](double place) {
      return static_cast<std::int64_t>(std::floor(place / a_point + 0.5));
    };
    around[axis] = {nearest(begin) - below, nearest(end) + order - below};
  }
  return around;
}

System parse_system(const Params& params, std::int64_t ranks, std::vector<Problem>& problems) {
  const auto& text = params.text("copies");
  const auto refuse = [&](const std::string& why) {
    problems.push_back({"copies", text, why});
    return System({1, 1, 1}, 1);
  };
  const auto copies = text == "ranks" ? most_even(ranks, 3) : parse_extents(text);
  if (!copies)
    return refuse("give ranks (one copy per rank), or copies along x, y, and z, such as 2x2x2");
  const auto all = volume(*copies);
  if (!all || *all > most_copies) return refuse("give at most 2^40 copies of 32,000 atoms");
  const System system(*copies, ranks);
  const auto shortest = std::ranges::min(system.lengths());
  const auto lines = system.pencils();
  if (lines[0] > system.grid()[1] || lines[1] > system.grid()[2]) {
    return refuse("PPPM's grid of " + to_string(system.grid()) + " points has " +
                  std::to_string(system.grid()[1] * system.grid()[2]) +
                  " pencils, which a grid of " + std::to_string(ranks) +
                  " ranks cannot share; use fewer ranks or more copies");
  }
  if (shortest < System::reach) {
    return refuse("bricks of " + std::to_string(shortest) + " A for " + std::to_string(ranks) +
                  " ranks are thinner than the layer of ghost atoms, 12 A; use fewer ranks or "
                  "more copies");
  }
  const auto most = most_sent_values * system.atoms_of_a_rank();
  if (most > std::numeric_limits<int>::max()) {
    return refuse(std::to_string(most) +
                  " values in a message of a rank's atoms: the limit of MPI counts is 2^31 - 1; "
                  "use more ranks or fewer copies");
  }
  return system;
}

}  // namespace halobench::md

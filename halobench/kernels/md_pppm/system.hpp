// SPDX-License-Identifier: BSD-3-Clause
// The rhodopsin benchmark's box of atoms and grid points, replicated, and how LAMMPS cuts it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/params.hpp"
#include "mpi/rank_grid.hpp"
#include "numerics/grid.hpp"

namespace halobench::md {

using Lengths = std::array<double, 3>;

/// Of grid points along x, y and z, counted over the whole grid; beyond it are periodic images.
using Box = std::array<Range, 3>;

std::int64_t points(const Box& box);
/// What both have; of no points where they have none.
Box common(const Box& one, const Box& other);

/// How the grid of PPPM is distributed over ranks, one after the other: with the atoms, then so
/// that each rank has whole lines along x, y or z.
enum class Layout { bricks, along_x, along_y, along_z };

/// The benchmark as so many ranks have it. LAMMPS' sources (2025) say how: comm.cpp and procmap.cpp
/// cut the box, pppm.cpp chooses the grid and its first lines, fft3d.cpp the others.
class System {
 public:
  static constexpr std::int64_t copy_atoms = 32000;           ///< in one copy of the box
  static constexpr Lengths copy_lengths{55.0, 77.0, 72.726};  ///< A; of data.rhodo
  static constexpr double cutoff = 10.0;                      ///< A; pair_style ... 8.0 10.0
  static constexpr double skin = 2.0;                         ///< A; LAMMPS' own for units real
  static constexpr double reach = cutoff + skin;              ///< of ghost atoms

  System(const Extents& copies, std::int64_t ranks);

  std::int64_t ranks() const { return bricks_.ranks(); }
  const Extents& copies() const { return copies_; }
  /// Ranks along x, y and z; z fastest.
  const RankGrid& bricks() const { return bricks_; }
  /// Points of PPPM's grid.
  const Extents& grid() const { return grid_; }
  double points() const;
  /// Of one rank's brick, in A.
  Lengths lengths() const;
  /// Of all ranks, and of the one with the most. As an atom's copies all have the same places,
  /// ranks have as many, to one.
  double atoms() const;
  std::int64_t atoms_of_a_rank() const;
  /// Ranks over y and over z where each has lines along x.
  std::array<std::int64_t, 2> pencils() const { return along_x_; }

  Box part(Layout layout, std::int64_t rank) const;
  /// A rank's brick with the points around it that its atoms reach, some of them images.
  Box with_ghosts(std::int64_t rank) const;

 private:
  Extents copies_;
  RankGrid bricks_;
  Extents grid_;
  std::array<std::int64_t, 2> along_x_;  ///< ranks over y and z
  std::array<std::int64_t, 2> inside_;   ///< ranks over the first and the second cut axis later
};

/// PPPM's grid for the benchmark's accuracy (kspace_style pppm 1e-4, order 5): the fewest points
/// along each axis whose error is small enough, made a product of 2, 3 and 5. The estimate of the
/// error: M. Deserno, C. Holm, J. Chem. Phys. 109 (1998) 7694, equation 38.
Extents pppm_grid(const Extents& copies);

/// Ranks along x, y and z so that bricks of a box have the smallest surface.
Extents smallest_surface(std::int64_t ranks, const Lengths& box);

/// The system of `copies` on a number of ranks: a copy per rank, or a number along x, y, and z.
/// What is wrong is appended to `problems`; nothing is returned then that may be used.
System parse_system(const Params& params, std::int64_t ranks, std::vector<Problem>& problems);

}  // namespace halobench::md

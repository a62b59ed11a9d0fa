// SPDX-License-Identifier: BSD-3-Clause
// Which points of the mesh a rank holds, and what lies beyond them; known before the launch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/params.hpp"
#include "mpi/rank_grid.hpp"
#include "numerics/grid.hpp"

namespace halobench::jacobi {

constexpr std::size_t axes = 3;

/// Points from `begin` to `end` along x, y and z.
using Box = std::array<Range, axes>;

bool empty(const Box& box);
std::int64_t points_of(const Box& box);

/// What is left of `whole` without `inner`, a box within it, in pieces; `whole` if `inner` is
/// empty.
std::vector<Box> around(const Box& whole, const Box& inner);

/// The box of one rank, counted from its own first point. Beyond an open side lie ghost layers with
/// copies of other points; beyond a closed one the boundary, where values are 0.
struct Part {
  Extents extents{1, 1, 1};
  std::array<std::array<bool, 2>, axes> open{};  ///< by axis: the low side, the high one
  std::int64_t depth = 1;                        ///< ghost layers

  Box own() const;
  /// `box` with so many layers more on each side, as far as there are ghosts.
  Box grown(const Box& box, std::int64_t layers) const;
  /// The own points that are at least so many layers away from every ghost; may be empty.
  Box inside(std::int64_t layers) const;
};

/// The whole mesh, cut over a grid of ranks.
struct Cut {
  Extents size{1, 1, 1};
  Extents topology{1, 1, 1};
  bool periodic = false;
  std::int64_t depth = 1;  ///< ghost layers, and sweeps from one exchange to the next

  RankGrid grid() const { return RankGrid(topology, periodic); }
  /// A rank's points, counted from the mesh's first.
  Box box(std::int64_t rank) const;
  Part part(std::int64_t rank) const;
};

/// What the paper's tables IV to XI call k and c: the faces through which a rank exchanges, two for
/// every axis that is cut, and the bytes that pass them, both ways, in a sweep (its equation 16).
struct Exchanged {
  std::int64_t faces = 0;
  double bytes = 0;
};
Exchanged exchanged(const Extents& box, const Extents& topology, double value_bytes);

/// What `L`, `size`, `topology`, `boundary`, `variant` and `depth` request on a number of ranks;
/// what is wrong is appended to `problems`.
Cut parse_cut(const Params& params, std::int64_t ranks, std::vector<Problem>& problems);

}  // namespace halobench::jacobi

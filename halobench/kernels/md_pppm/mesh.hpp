// SPDX-License-Identifier: BSD-3-Clause
// PPPM's grid through a step: from bricks to lines, to the spectrum and back, every point followed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/md_pppm/costs.hpp"
#include "kernels/md_pppm/grid_ghosts.hpp"
#include "kernels/md_pppm/phases.hpp"
#include "kernels/md_pppm/remap.hpp"
#include "kernels/md_pppm/system.hpp"

namespace halobench::md {

/// The field has three components, each with a backward transform of its own (pppm, not pppm/cg's
/// ad): LAMMPS' default, kspace_modify diff ik.
constexpr int components = 3;

/// Charges are sums that tell their points; transforms leave values as they are, but move them as
/// LAMMPS does, so that each point can be known again at the end.
class Mesh {
 public:
  /// once: of the four transforms, lines are gone through once for all, as is the way back to
  /// bricks: under simulation the others last as long. Then one component has values.
  Mesh(const Context& context, const System& system, Phases& phases, Costs& costs, bool once);

  /// The charges of ghost points to their owners, transforms there and back, the field to ghosts.
  void solve();

  /// The first point that has another charge or field than its own; empty where none has.
  std::string fault() const;

  /// Bytes that a rank has so.
  static double memory(const System& system, std::int64_t rank);

 private:
  void spread_charges();
  void to_lines();
  void all_lines();
  void transform_each();
  void transform_once();
  void keep_field(int component);
  double charge(std::int64_t x, std::int64_t y, std::int64_t z) const;
  std::int64_t copies(std::size_t axis, std::int64_t place) const;

  const Context context_;
  const System& system_;
  Phases& phases_;
  Costs& costs_;
  const bool once_;
  GridGhosts ghosts_;
  const Box brick_;
  const Box lines_;
  Remap to_lines_;
  Remap x_to_y_;
  Remap y_to_z_;
  Remap z_to_x_;
  Remap z_to_bricks_;
  std::array<std::vector<std::int64_t>, 3>
      copies_;               ///< of a place along an axis: bricks that reach it
  Buffer<double> charges_;   ///< brick with ghosts
  Buffer<double> field_;     ///< likewise, three values a point
  Buffer<double> owned_;     ///< brick; two values a point
  Buffer<double> real_;      ///< lines along x, one value a point
  Buffer<double> spectrum_;  ///< lines along x, two values a point
  Buffer<double> one_;
  Buffer<double> other_;
  Buffer<double> sent_;
};

}  // namespace halobench::md

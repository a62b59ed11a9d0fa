// SPDX-License-Identifier: BSD-3-Clause
// A step of molecular dynamics, as the ranks of LAMMPS communicate in it (verlet.cpp).
#pragma once

#include <cstdint>
#include <string>

#include "kernels/md_pppm/costs.hpp"
#include "kernels/md_pppm/ghosts.hpp"
#include "kernels/md_pppm/mesh.hpp"
#include "kernels/md_pppm/phases.hpp"
#include "kernels/md_pppm/system.hpp"

namespace halobench::md {

/// With the benchmark's settings: fix npt, fix shake, pppm, neigh_modify delay 5 every 1.
class Verlet {
 public:
  /// rebuild: steps from one build of neighbour lists to the next. once: of what is alike in such a
  /// period, one of each is gone through, and under simulation taken for all: steps and transforms.
  Verlet(const Context& context, const System& system, std::int64_t rebuild, bool once);

  /// The next step is the first, which builds neighbour lists.
  void restart();
  void step();

  const System& system() const { return system_; }
  const Atoms& atoms() const { return ghosts_.atoms(); }
  std::int64_t rebuild() const { return rebuild_; }
  /// What was sent since restart(), in so many steps.
  const Ledger& ledger() const { return phases_.ledger; }
  std::int64_t steps() const { return step_; }
  /// The first atom, point or sum that is wrong on this rank after the last step; or empty.
  std::string fault() const;

 private:
  void build();
  void common();
  void step_once(std::int64_t age);
  void sum(std::int64_t values, Phase& phase);
  void agree(Phase& phase);

  const Context context_;
  const Communicator& comm_;
  Meter& meter_;
  const System system_;
  const std::int64_t rebuild_;
  const bool once_;
  Phases phases_;
  Costs costs_;
  Ghosts ghosts_;
  Mesh mesh_;
  std::int64_t step_ = 0;
  std::string wrong_sum_;
};

}  // namespace halobench::md

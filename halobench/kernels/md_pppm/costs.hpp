// SPDX-License-Identifier: BSD-3-Clause
// What a rank's computation costs, from a real run's sections: charged under simulation alone.
#pragma once

#include "kernels/md_pppm/phases.hpp"
#include "kernels/md_pppm/system.hpp"

namespace halobench::md {

/// Charges the node model's time for what LAMMPS computes in a section. For real nothing is
/// computed: the kernel moves data and checks where they are.
class Costs {
 public:
  Costs(const Context& context, const System& system);

  void pair();
  void bond();
  /// Of one build of neighbour lists.
  void neigh();
  void modify();
  /// Charges to points, or the field's forces on atoms: Kspace without its transforms, a half each.
  void half_of_kspace();
  /// One-dimensional transforms of this rank's lines.
  void lines(Layout layout);

 private:
  /// A section that takes so many seconds of an atom where it was measured.
  void charge(Phase* phase, double seconds_of_an_atom);

  Meter& meter_;
  const System& system_;
  int rank_;
  double atoms_;
  double flops_ = 0;
  Phase* pair_ = nullptr;  ///< and the others: only under simulation
  Phase* bond_ = nullptr;
  Phase* neigh_ = nullptr;
  Phase* modify_ = nullptr;
  Phase* kspace_ = nullptr;
  Phase* fft_ = nullptr;
};

}  // namespace halobench::md

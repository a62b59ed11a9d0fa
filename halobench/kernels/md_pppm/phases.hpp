// SPDX-License-Identifier: BSD-3-Clause
// Where the time of a step goes, by names near those of LAMMPS' own breakdown.
#pragma once

#include "kernel.hpp"
#include "kernels/md_pppm/ledger.hpp"

namespace halobench::md {

/// Each is in one of LAMMPS' sections (those of Costs too:
/// src/haloscope/topics/phases/__init__.py adds them up), `check` in none, as LAMMPS asks whether
/// to build neighbour lists between sections.
struct Phases {
  explicit Phases(Meter& meter)
      : comm(meter.phase("comm")),
        movers(meter.phase("movers")),
        borders(meter.phase("borders")),
        pack(meter.phase("pack")),
        shake(meter.phase("shake")),
        shake_pack(meter.phase("shake_pack")),
        sum(meter.phase("sum")),
        grid(meter.phase("grid")),
        remap(meter.phase("remap")),
        grid_pack(meter.phase("grid_pack")),
        grid_sum(meter.phase("grid_sum")),
        neigh_sum(meter.phase("neigh_sum")),
        check(meter.phase("check")),
        output(meter.phase("output")) {}

  Phase& comm;        ///< Comm: positions to ghost atoms, forces back
  Phase& movers;      ///< Comm: atoms that move to other ranks
  Phase& borders;     ///< Comm: new ghost atoms
  Phase& pack;        ///< Comm: their messages put together, and taken apart
  Phase& shake;       ///< Modify: positions again, for bonds of fixed length
  Phase& shake_pack;  ///< Modify: their messages
  Phase& sum;         ///< Modify: temperature and pressure
  Phase& grid;        ///< Kspace: points around each rank's brick
  Phase& remap;       ///< Kspace: the grid from bricks to lines and back
  Phase& grid_pack;   ///< Kspace: messages of both
  Phase& grid_sum;    ///< Kspace: virial of the mesh
  Phase& neigh_sum;   ///< Neigh: of bonds, angles, dihedrals and impropers
  Phase& check;       ///< whether any atom has moved too far
  Phase& output;      ///< Output: sums of what is printed
  Ledger ledger;      ///< of all point-to-point messages
};

/// What is done from here on, and then taken to be done again and again, each time in as long. Only
/// under simulation.
class Repeated {
 public:
  Repeated(const Context& context, Phases& phases)
      : context_(context), phases_(phases), mark_(context.meter.mark()), before_(phases.ledger) {}

  /// So many times more, all that was done since.
  void again(double times) {
    context_.meter.repeat_since(mark_, times, context_.comm);
    phases_.ledger.repeat_since(before_, times);
  }

 private:
  const Context context_;
  Phases& phases_;
  const Meter::Mark mark_;
  const Ledger before_;
};

}  // namespace halobench::md

// Where the time of a step goes, by names near those of LAMMPS' own breakdown.
#pragma once

#include "kernel.hpp"
#include "kernels/md_pppm/ledger.hpp"

namespace halobench::md {

/// Of LAMMPS' sections, Comm is `comm` and `borders`, Kspace is `kspace`, `fft`, `remap` and
/// `grid`, Modify is `modify`, `shake` and most of `reduce`.
struct Phases {
  explicit Phases(Meter& meter)
      : comm(meter.phase("comm")),
        borders(meter.phase("borders")),
        shake(meter.phase("shake")),
        grid(meter.phase("grid")),
        remap(meter.phase("remap")),
        reduce(meter.phase("reduce")),
        pack(meter.phase("pack")) {}

  Phase& comm;     ///< positions to ghost atoms, forces back
  Phase& borders;  ///< atoms that move to other ranks, and new ghost atoms
  Phase& shake;    ///< positions again, for bonds of fixed length
  Phase& grid;     ///< points around each rank's brick
  Phase& remap;    ///< the grid from bricks to lines and back
  Phase& reduce;   ///< sums over all ranks
  Phase& pack;     ///< messages put together, and taken apart
  Ledger ledger;   ///< of all point-to-point messages
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

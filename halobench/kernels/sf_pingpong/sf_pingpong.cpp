// SPDX-License-Identifier: BSD-3-Clause
// Ping-pong as a broadcast and a reduction of a star forest, each with its own buffer: nothing to
// pack, so what it takes beyond pingpong is the forest's own cost.
#include "kernels/star_forest/pair.hpp"

namespace halobench {

Kernel sf_pingpong() {
  return pair_kernel({.name = "sf_pingpong",
                      .summary = "Star forest (as in PetscSF): send values from rank 0 to rank 1 "
                                 "and back, with one buffer "
                                 "per direction",
                      .section = "5.1",
                      .two_buffers = true});
}

}  // namespace halobench

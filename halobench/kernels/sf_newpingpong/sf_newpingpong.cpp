// SPDX-License-Identifier: BSD-3-Clause
// sf_pingpong in one buffer a rank: what was received is what is sent.
#include "kernels/star_forest/pair.hpp"

namespace halobench {

Kernel sf_newpingpong() {
  return pair_kernel({.name = "sf_newpingpong",
                      .summary = "Star forest (as in PetscSF): send values from rank 0 to rank 1 "
                                 "and back, with one buffer "
                                 "per rank",
                      .section = "5.2"});
}

}  // namespace halobench

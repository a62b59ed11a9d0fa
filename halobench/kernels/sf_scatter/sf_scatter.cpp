// SPDX-License-Identifier: BSD-3-Clause
// sf_unpack with leaves on rank 0 too, which are served without MPI.
#include "kernels/star_forest/pair.hpp"

namespace halobench {

Kernel sf_scatter() {
  return pair_kernel({.name = "sf_scatter",
                      .summary =
                          "Star forest (as in PetscSF): add values between ranks 0 and 1, and "
                          "within rank 0",
                      .section = "5.2",
                      .adds = true,
                      .local = true});
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Values are added where they arrive: a receive buffer, and unpacking.
#include "kernels/star_forest/pair.hpp"

namespace halobench {

Kernel sf_unpack() {
  return pair_kernel(
      {.name = "sf_unpack",
       .summary =
           "Star forest (as in PetscSF): add values on rank 0 to those on rank 1, and vice versa",
       .section = "5.2",
       .adds = true});
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/awareness.hpp"

#include <dlfcn.h>

#include <vector>

namespace halobench {

/// By name, so that one source does for all libraries: Open MPI calls HIP's ROCm's, and MPICH
/// HIP's.
std::optional<bool> mpi_says_aware(const std::string& kind) {
  using Query = int (*)();
  const std::vector<const char*> names =
      kind == "hip" ? std::vector{"MPIX_Query_rocm_support", "MPIX_Query_hip_support"}
                    : std::vector{"MPIX_Query_cuda_support"};
  for (const auto* name : names) {
    if (auto* found = dlsym(RTLD_DEFAULT, name)) return reinterpret_cast<Query>(found)() == 1;
  }
  return {};
}

}  // namespace halobench

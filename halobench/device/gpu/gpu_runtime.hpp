// SPDX-License-Identifier: BSD-3-Clause
// The runtime library of a GPU, CUDA's or HIP's, whose names differ in their prefix alone.
#pragma once

#include <stdexcept>
#include <string>

#if defined(HALOBENCH_HIP)
#include <hip/hip_runtime.h>
/// GPU_RUNTIME(Malloc) is the runtime's function, type or constant of that name.
#define GPU_RUNTIME(name) hip##name
#else
#include <cuda_runtime.h>
#define GPU_RUNTIME(name) cuda##name
#endif

namespace halobench {

/// Throws what the runtime says of it, unless it succeeded.
inline void require(GPU_RUNTIME(Error_t) code, const char* call) {
  if (code == GPU_RUNTIME(Success)) return;
  throw std::runtime_error(std::string(call) + ": " + GPU_RUNTIME(GetErrorString)(code));
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "device/stream_messages.hpp"

#include <stdexcept>

#include "base/simulation.hpp"
#include "device/kind.hpp"

namespace halobench {

std::string stream_messages_missing() {
  const std::string instead = "give mpi=gpu_aware or mpi=staged";
  if (simulated()) return "NCCL needs NVIDIA GPUs, and these are simulated; " + instead;
  const auto kind = device_kind();
  if (kind == "emulated") {
    return "NCCL needs NVIDIA GPUs, and this device is emulated; use --device cuda, or " + instead;
  }
  if (kind == "hip") {
    return "NCCL needs NVIDIA GPUs, and this halobench is built for HIP; " + instead;
  }
#if defined(HALOBENCH_NCCL)
  return {};
#else
  return "halobench was built without NCCL (nccl.h, libnccl.so.2); add CUDA from PyPI, which "
         "contains it (haloscope toolchain add cuda), set NCCL_ROOT to its folder, or " +
         instead;
#endif
}

#if !defined(HALOBENCH_NCCL)
std::unique_ptr<StreamMessages> connect_streams(const Communicator& /*comm*/) {
  throw std::logic_error("mpi=nccl: " + stream_messages_missing());
}
#endif

}  // namespace halobench

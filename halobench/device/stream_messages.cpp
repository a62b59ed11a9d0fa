// SPDX-License-Identifier: BSD-3-Clause
#include "device/stream_messages.hpp"

#include <stdexcept>

#include "base/simulation.hpp"
#include "device/kind.hpp"

namespace halobench {

std::string stream_messages_missing() {
  const std::string instead = "give mpi=gpu_aware or mpi=staged";
  if (simulated()) return "NCCL sends between real GPUs, and these are simulated: " + instead;
  const auto kind = device_kind();
  if (kind == "emulated") {
    return "NCCL sends between GPUs of NVIDIA's, and this device is emulated: build for them "
           "(--device cuda), or " +
           instead;
  }
  if (kind == "hip") {
    return "NCCL sends between GPUs of NVIDIA's, and this halobench is built for HIP: " + instead;
  }
#if defined(HALOBENCH_NCCL)
  return {};
#else
  return "halobench was built where NCCL (nccl.h, libnccl.so.2) was not: take CUDA from PyPI, "
         "which has it (haloscope toolchain add cuda), set NCCL_ROOT to its folder, or " +
         instead;
#endif
}

#if !defined(HALOBENCH_NCCL)
std::unique_ptr<StreamMessages> connect_streams(const Communicator& /*comm*/) {
  throw std::logic_error("mpi=nccl: " + stream_messages_missing());
}
#endif

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// What devices of this build are.
#pragma once

#include <memory>
#include <string>

#include "device/device.hpp"

namespace halobench {

/// Ranks that share the devices of a node, which of them this is, and how many may have the same.
struct Sharing {
  int rank = 0;
  int ranks = 1;
  int of_a_gpu = 1;
};

/// emulated, cuda or hip: what CMake was told by HALOBENCH_DEVICE.
inline std::string device_kind() {
#if defined(HALOBENCH_CUDA)
  return "cuda";
#elif defined(HALOBENCH_HIP)
  return "hip";
#else
  return "emulated";
#endif
}

/// Why this machine has no device of that kind, in the words of its runtime; empty if it has one.
std::string device_missing();

/// What is wrong with so many ranks on the devices of a node, and what to do; empty if there is
/// room for all, as of emulated ones, of which there are as many as are asked for.
std::string crowded(const Sharing& sharing);

/// A device for this rank; ranks that follow each other share a GPU, where they are to. `lags`: an
/// emulated one does nothing before it is waited for. Only in programs that have devices.
[[gnu::weak]] std::unique_ptr<Device> make_device(const Sharing& sharing, bool lags);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// What devices of this build are.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace halobench {

/// emulated, cuda or hip: the value of CMake's HALOBENCH_DEVICE.
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

/// The names of the GPUs that this process sees, by their numbers: their PCI addresses and, of
/// NVIDIA's, the numbers that they have of their own. None of an emulated device.
std::vector<std::string> visible_devices();

/// A device for this rank: the GPU of that number. `schedule`: when an emulated one works, one of
/// `device_schedules`; `seed`: of what is random there. Only in programs that have devices.
[[gnu::weak]] std::unique_ptr<Device> make_device(int number, const std::string& schedule,
                                                  unsigned seed);

/// When streams of an emulated device work: EmulatedDevice::Lag, in its order.
inline constexpr std::array device_schedules{"none", "until_waited", "eager", "random"};

}  // namespace halobench

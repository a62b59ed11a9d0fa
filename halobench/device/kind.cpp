// SPDX-License-Identifier: BSD-3-Clause
#include "device/kind.hpp"

#include <algorithm>
#include <stdexcept>

#if defined(HALOBENCH_CUDA) || defined(HALOBENCH_HIP)
#include "device/gpu/gpu.hpp"
#else
#include "device/emulated/emulated.hpp"
#endif

namespace halobench {

#if defined(HALOBENCH_CUDA) || defined(HALOBENCH_HIP)

std::string device_missing() {
  try {
    return visible_gpus() > 0 ? "" : "no GPU is visible";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::vector<std::string> visible_devices() {
  std::vector<std::string> names;
  for (int number = 0; number < visible_gpus(); ++number) {
    const auto [uuid, pci] = gpu_identity(number);
    names.push_back(pci + " " + uuid);
  }
  return names;
}

std::unique_ptr<Device> make_device(int number, const std::string& /*schedule*/,
                                    unsigned /*seed*/) {
  return std::make_unique<Gpu>(number);
}

#else

std::string device_missing() { return {}; }

std::vector<std::string> visible_devices() { return {}; }

std::unique_ptr<Device> make_device(int /*number*/, const std::string& schedule, unsigned seed) {
  const auto lag = std::ranges::find(device_schedules, schedule) - device_schedules.begin();
  return std::make_unique<EmulatedDevice>(static_cast<EmulatedDevice::Lag>(lag), seed);
}

#endif

}  // namespace halobench

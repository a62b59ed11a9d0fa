// SPDX-License-Identifier: BSD-3-Clause
#include "device/kind.hpp"

#include <stdexcept>

#if defined(HALOBENCH_CUDA) || defined(HALOBENCH_HIP)
#include "device/gpu.hpp"
#else
#include "device/emulated.hpp"
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

std::string crowded(const Sharing& sharing) {
  const int gpus = visible_gpus();
  if (sharing.ranks <= gpus * sharing.of_a_gpu) return {};
  return std::to_string(sharing.ranks) + " ranks on a node, of whose GPUs each is to see all and " +
         "sees " + std::to_string(gpus) + "; give fewer, or let them share one: gpus_shared=" +
         std::to_string((sharing.ranks + gpus - 1) / gpus);
}

std::unique_ptr<Device> make_device(const Sharing& sharing, bool /*lags*/) {
  return std::make_unique<Gpu>(sharing.rank / sharing.of_a_gpu);
}

#else

std::string device_missing() { return {}; }

std::string crowded(const Sharing& /*sharing*/) { return {}; }

std::unique_ptr<Device> make_device(const Sharing& /*sharing*/, bool lags) {
  using Lag = EmulatedDevice::Lag;
  return std::make_unique<EmulatedDevice>(lags ? Lag::until_waited : Lag::none);
}

#endif

}  // namespace halobench

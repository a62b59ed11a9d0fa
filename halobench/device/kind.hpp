// What devices of this build are.
#pragma once

#include <memory>
#include <string>

#include "device/device.hpp"

namespace halobench {

/// Ranks that share the devices of a node, and which of them this is.
struct Sharing {
  int rank = 0;
  int ranks = 1;
};

/// emulated, cuda or hip: what CMake was told by HALOBENCH_DEVICE.
std::string device_kind();

/// Why this machine has no device of that kind, in the words of its runtime; empty if it has one.
std::string device_missing();

/// What is wrong with so many ranks on the devices of a node, unless they are to share them; empty
/// if each has one, and for an emulated one, of which there are as many as are asked for.
std::string crowded(const Sharing& sharing);

/// A device for this rank; ranks of a node take their GPUs in turn. `lags`: an emulated one does
/// nothing before it is waited for.
std::unique_ptr<Device> make_device(const Sharing& sharing, bool lags);

}  // namespace halobench

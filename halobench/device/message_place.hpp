// SPDX-License-Identifier: BSD-3-Clause
// Where a message lies, for the simulated network.
#pragma once

#include "base/simulation.hpp"

namespace halobench {

/// Whether an address is of a simulated device's memory. Only in programs that have devices.
[[gnu::weak]] bool in_simulated_device(const void* address);

/// While it is there, what MPI is given of this rank lies where `address` does: a message of a
/// simulated device's memory takes other times than one of the host's. Else it is nothing.
class MessagePlace {
 public:
  explicit MessagePlace(const void* address)
      : on_device_(simulated() && in_simulated_device != nullptr && in_simulated_device(address)) {
    if (on_device_) messages_on_device(true);
  }

  ~MessagePlace() {
    if (on_device_) messages_on_device(false);
  }

  MessagePlace(const MessagePlace&) = delete;
  MessagePlace& operator=(const MessagePlace&) = delete;

 private:
  bool on_device_;
};

}  // namespace halobench

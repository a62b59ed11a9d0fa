// SPDX-License-Identifier: BSD-3-Clause
// An emulated device's memory that leaves one wait out: what it is for must then go wrong.
#pragma once

#include <memory>
#include <utility>

#include "device/emulated/emulated.hpp"
#include "star_forest/device_space.hpp"

namespace halobench {

/// The waits of a DeviceSpace.
enum class Wait { none, before_pack, before_messages, after_unpack, after_copy_in };

/// Its streams do nothing before they are waited for, unless another schedule is given.
class ForgetfulSpace : public DeviceSpace {
 public:
  ForgetfulSpace(Meter& meter, Memory& memory, Setting setting, Wait left_out = Wait::none,
                 std::unique_ptr<StreamMessages> messages = nullptr,
                 EmulatedDevice::Lag lag = EmulatedDevice::Lag::until_waited, unsigned seed = 1)
      : DeviceSpace(meter, memory, std::make_unique<EmulatedDevice>(lag, seed), setting,
                    std::move(messages)),
        left_out_(left_out) {}

  void before_pack(const void* from, const void* to) override {
    if (left_out_ != Wait::before_pack) DeviceSpace::before_pack(from, to);
  }
  void before_messages(Event packed) override {
    if (left_out_ != Wait::before_messages) DeviceSpace::before_messages(packed);
  }
  void after_unpack() override {
    if (left_out_ != Wait::after_unpack) DeviceSpace::after_unpack();
  }
  void after_copy_in() override {
    if (left_out_ != Wait::after_copy_in) DeviceSpace::after_copy_in();
  }

 private:
  Wait left_out_;
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// A device under simulation: its works take what the cluster file says, on a clock of their own.
#pragma once

#include <vector>

#include "device/clock.hpp"
#include "device/device.hpp"

namespace halobench {

/// The host passes time where it launches, waits and asks; streams work meanwhile, by a
/// DeviceClock. Works are done at once, in the order in which they are given, which is one that the
/// streams could have had; or not at all. Only for simulated binaries.
class SimulatedDevice : public Device {
 public:
  /// works: whether what it is given is done, too; else its memory is addresses alone.
  SimulatedDevice(const DeviceModel& model, bool works);

  std::string name() const override { return "simulated"; }
  Buffer<std::byte> allocate(std::int64_t bytes) override;
  Buffer<std::byte> allocate_on_host(std::int64_t bytes) override;
  bool has(const void* address) const override;
  using Device::reach;
  void* reach(void* address) const override;
  void begin_operation() override;

  Stream new_stream() override;
  Event new_event() override;
  void launch(Stream stream, const Traffic& traffic, std::function<void()> work) override;
  void copy_in(Stream stream, const void* host, void* to, std::int64_t bytes) override;
  void copy_out(Stream stream, const void* from, void* host, std::int64_t bytes) override;
  void upload(Stream stream, const void* host, void* to, std::int64_t bytes) override;
  void download(Stream stream, const void* from, void* host, std::int64_t bytes) override;
  void record(Event event, Stream stream) override;
  void wait(Stream stream, Event event) override;
  void synchronise(Event event) override;
  void synchronise(Stream stream) override;
  void synchronise() override;

 protected:
  std::vector<Span> traced() override;

 private:
  Buffer<std::byte> memory(std::int64_t bytes, bool its_own) const;
  /// A kernel or a copy, which the host launches.
  void give(Stream stream, double bytes, DeviceClock::Way way);
  void wait_for(const DeviceClock::Moment& moment, double cost_s);

  DeviceModel model_;
  bool works_;
  DeviceClock clock_;
  std::size_t streams_ = 0;
  std::vector<DeviceClock::Moment> moments_;  ///< one an event
};

}  // namespace halobench

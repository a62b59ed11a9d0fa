// SPDX-License-Identifier: BSD-3-Clause
#include "device/simulated.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/as_size.hpp"
#include "base/simulation.hpp"
#include "device/message_place.hpp"

namespace halobench {
namespace {

constexpr std::size_t alignment = 64;

/// The bytes of each array of a device's memory, by its begin: of all ranks, whose addresses
/// differ.
std::map<const std::byte*, std::int64_t>& arrays() {
  static std::map<const std::byte*, std::int64_t> all;
  return all;
}

/// Whether it is of such an array, of `beyond` bytes more.
bool in_arrays(const void* address, std::int64_t beyond) {
  const auto* place = static_cast<const std::byte*>(address);
  auto found = arrays().upper_bound(place);
  if (found == arrays().begin()) return false;
  --found;
  return place - found->first < found->second + beyond;
}

void* allocate_whole(std::int64_t bytes, bool works) {
  const auto whole = (as_size(bytes) + alignment) / alignment * alignment;
  if (!works) return allocate_unused(whole);
  void* memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

template <void (*release)(void*)>
void forget(void* memory) {
  arrays().erase(static_cast<const std::byte*>(memory));
  release(memory);
}

void pass(double seconds) {
  if (seconds > 0) pass_time(seconds);
}

}  // namespace

bool in_simulated_device(const void* address) {
  return address != nullptr && in_arrays(address, 1);
}

SimulatedDevice::SimulatedDevice(const DeviceModel& model, bool works)
    : model_(model),
      works_(works),
      clock_({model.memory_bytes_per_s / model.ranks, model.copy_bytes_per_s / model.ranks}) {}

Buffer<std::byte> SimulatedDevice::allocate(std::int64_t bytes) { return memory(bytes, true); }

Buffer<std::byte> SimulatedDevice::allocate_on_host(std::int64_t bytes) {
  return memory(bytes, false);
}

Buffer<std::byte> SimulatedDevice::memory(std::int64_t bytes, bool its_own) const {
  void* memory = allocate_whole(bytes, works_);
  if (its_own) arrays()[static_cast<const std::byte*>(memory)] = bytes;
  return {memory, as_size(bytes), works_ ? forget<std::free> : forget<free_unused>};
}

bool SimulatedDevice::has(const void* address) const {
  pass(model_.query_s);
  return in_arrays(address, 0);
}

void* SimulatedDevice::reach(void* address) const {
  if (in_arrays(address, 1)) return address;  // the end of an array is an address of it, too
  throw std::logic_error("the device got an address outside its memory");
}

void SimulatedDevice::begin_operation() { pass(model_.operation_s); }

Stream SimulatedDevice::new_stream() {
  ++streams_;
  return {static_cast<int>(clock_.new_stream())};
}

Event SimulatedDevice::new_event() {
  moments_.emplace_back();
  return {static_cast<int>(moments_.size()) - 1};
}

void SimulatedDevice::give(Stream stream, double bytes, DeviceClock::Way way) {
  pass(model_.launch_s);
  clock_.give(as_size(stream.number),
              {simulated_now_s(), model_.latency_s, bytes, way, traced_call()});
}

void SimulatedDevice::launch(Stream stream, const Traffic& traffic, std::function<void()> work) {
  give(stream, traffic.bytes, DeviceClock::Way::memory);
  if (works_) work();
}

void SimulatedDevice::copy_in(Stream stream, const void* host, void* to, std::int64_t bytes) {
  give(stream, static_cast<double>(bytes), DeviceClock::Way::in);
  if (works_) std::memcpy(reach(to), host, as_size(bytes));
}

void SimulatedDevice::copy_out(Stream stream, const void* from, void* host, std::int64_t bytes) {
  give(stream, static_cast<double>(bytes), DeviceClock::Way::out);
  if (works_) std::memcpy(host, Device::reach(from), as_size(bytes));
}

void SimulatedDevice::upload(Stream stream, const void* host, void* to, std::int64_t bytes) {
  if (bytes > 0) copy_in(stream, host, to, bytes);
}

void SimulatedDevice::download(Stream stream, const void* from, void* host, std::int64_t bytes) {
  copy_out(stream, from, host, bytes);
  synchronise(stream);
}

void SimulatedDevice::record(Event event, Stream stream) {
  moments_[as_size(event.number)] = clock_.moment(as_size(stream.number));
}

void SimulatedDevice::wait(Stream stream, Event event) {
  clock_.wait(as_size(stream.number), moments_[as_size(event.number)]);
}

void SimulatedDevice::wait_for(const DeviceClock::Moment& moment, double cost_s) {
  const double passes_s = clock_.passes_s(moment);
  pass(std::max(0.0, passes_s - simulated_now_s()) + cost_s);
}

void SimulatedDevice::synchronise(Event event) {
  wait_for(moments_[as_size(event.number)], model_.stream_sync_s);
}

void SimulatedDevice::synchronise(Stream stream) {
  wait_for(clock_.moment(as_size(stream.number)), model_.stream_sync_s);
}

void SimulatedDevice::synchronise() {
  for (std::size_t stream = 0; stream < streams_; ++stream) wait_for(clock_.moment(stream), 0);
  pass(model_.device_sync_s);
}

std::vector<Span> SimulatedDevice::traced() {
  synchronise();
  std::vector<Span> spans;
  for (const auto& [name, stream, begin_s, end_s] : clock_.take_done()) {
    spans.push_back({name, 0, begin_s, end_s, static_cast<int>(stream)});
  }
  return spans;
}

}  // namespace halobench

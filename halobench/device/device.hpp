// SPDX-License-Identifier: BSD-3-Clause
// A device: memory of its own, and streams that work there, each in order, while the host goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/anywhere.hpp"
#include "machine/memory.hpp"
#include "machine/meter.hpp"
#include "machine/node_model.hpp"
#if defined(__CUDACC__) || defined(__HIPCC__)
#include "device/gpu/gpu_launch.hpp"
#endif

namespace halobench {

/// A stream of a device: what is given to it is done in that order, after the call has returned.
struct Stream {
  int number = 0;
};

/// A moment of a stream, which record() sets: when all that it was given before has been done.
struct Event {
  int number = 0;
};

/// What star forests and kernels need of a device; another kind of device replaces this alone.
/// Addresses of its memory may be touched by what it does on its streams, by an MPI that is aware
/// of it, and by nobody else; reach() is the address for these.
class Device {
 public:
  Device() = default;
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// What it is, as a record says it.
  virtual std::string name() const = 0;
  /// UUID, PCI address, and index as JSON, for the record; empty unless it is a GPU.
  virtual std::string identity() const { return {}; }

  /// Memory of the device, uninitialised, aligned to 64 bytes: of one byte at least, as runtimes of
  /// GPUs differ in what they make of none. To free it waits for all streams.
  virtual Buffer<std::byte> allocate(std::int64_t bytes) = 0;
  /// As much of the host's that copies go to and come from while the host goes on.
  virtual Buffer<std::byte> allocate_on_host(std::int64_t bytes) = 0;
  /// Whether an address is of memory that allocate() gave.
  virtual bool has(const void* address) const = 0;
  /// The same place of the device's memory, for what works there and for MPI. Throws
  /// std::logic_error for an address of other memory, where it knows that without asking.
  virtual void* reach(void* address) const = 0;
  const void* reach(const void* address) const { return reach(const_cast<void*>(address)); }

  /// What the host does in an operation of a communication library on the device's memory beside
  /// what it asks of the device: nothing that is not done, but under simulation, where it takes
  /// time.
  virtual void begin_operation() {}

  virtual Stream new_stream() = 0;
  virtual Event new_event() = 0;

  /// What its streams do while `meter` traces calls is traced, too, each work by the name of the
  /// call that it was given in: on devices that are emulated or simulated. And who stops a clock
  /// finds what was not waited for: Meter::require_no_work_left().
  void report_to(Meter& meter);

  /// What a GPU's own compiler launches on; null where the host's processors do the work.
  virtual void* gpu_stream(Stream /*stream*/) const { return nullptr; }

  /// Gives a stream work that moves and computes `traffic`; what it touches stays until it is done.
  virtual void launch(Stream stream, const Traffic& traffic, std::function<void()> work) = 0;
  /// Gives a stream a copy between memory of allocate_on_host() and of the device.
  virtual void copy_in(Stream stream, const void* host, void* to, std::int64_t bytes) = 0;
  virtual void copy_out(Stream stream, const void* from, void* host, std::int64_t bytes) = 0;
  /// The same of any memory of the host: has read `host` when it returns ...
  virtual void upload(Stream stream, const void* host, void* to, std::int64_t bytes) = 0;
  /// ... has written it, after all that the stream was given before.
  virtual void download(Stream stream, const void* from, void* host, std::int64_t bytes) = 0;

  /// `event` is from now on this moment of the stream. One that was never set is in the past.
  virtual void record(Event event, Stream stream) = 0;
  /// What the stream is given from now on is done after the moment that `event` is now.
  virtual void wait(Stream stream, Event event) = 0;

  /// Returns when that moment has passed ...
  virtual void synchronise(Event event) = 0;
  /// ... when all that a stream was given has been done ...
  virtual void synchronise(Stream stream) = 0;
  /// ... or all streams.
  virtual void synchronise() = 0;

  /// Has the host waited for all that streams were given, by a stream, an event or another stream
  /// that waits for it? On an emulated device also where all of it happens to be done; a GPU knows
  /// no more than whether it is; a simulated one does not look.
  virtual bool is_waited_for() const { return true; }

 protected:
  /// The call that a work is given in; null where it is not to be traced.
  const char* traced_call() const { return meter_ != nullptr ? meter_->traced_call() : nullptr; }
  /// All works that had such a name, which are then done.
  virtual std::vector<Span> traced() { return {}; }

 private:
  const Meter* meter_ = nullptr;
};

/// Gives a stream body(i) for every i below `count`, in any order, at once where the device can.
/// `body` is copied; of memory it touches the device's alone, by addresses that reach() gave.
template <class Body>
void launch_over(Device& device, Stream stream, std::int64_t count, const Traffic& traffic,
                 const Body& body) {
#if defined(__CUDACC__) || defined(__HIPCC__)
  if (void* gpu = device.gpu_stream(stream)) return gpu::launch_over(gpu, count, body);
#endif
  device.launch(stream, traffic, [count, body] {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  });
}

/// Gives a stream sums: for every i below `count`, sums.put(i, s), where s is the sum of
/// sums.term(i, k) for k from sums.begin(i) to sums.end(i); `terms`: of all sums together. A device
/// may take the terms of a sum in another order, always the same one, and sums in any order, at
/// once.
template <class Sums>
void launch_sums(Device& device, Stream stream, std::int64_t count, std::int64_t terms,
                 const Traffic& traffic, const Sums& sums) {
#if defined(__CUDACC__) || defined(__HIPCC__)
  if (void* gpu = device.gpu_stream(stream)) return gpu::launch_sums(gpu, count, terms, sums);
#endif
  static_cast<void>(terms);
  device.launch(stream, traffic, [count, sums] {
    for (std::int64_t i = 0; i < count; ++i) {
      double sum = 0;
      const auto end = sums.end(i);
      for (auto k = sums.begin(i); k < end; ++k) sum += sums.term(i, k);
      sums.put(i, sum);
    }
  });
}

}  // namespace halobench

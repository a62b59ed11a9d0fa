// SPDX-License-Identifier: BSD-3-Clause
// A device that the host's processors play: guarded memory, and a thread for each stream.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "device/device.hpp"

namespace halobench {

/// Shows whether a program for a device is right, not how fast: its memory is guarded (see
/// guarded_memory.hpp), a stream does its work on a thread of its own, or the host does it, when
/// Lag says: no schedule shows all that is missing. Of memory of no bytes it throws
/// std::logic_error. Work touches memory of the host, too, if it has its addresses: nobody notices.
class EmulatedDevice : public Device {
 public:
  /// none: at once, on a thread of the stream's. until_waited: not before the host waits for it,
  /// which shows where a wait of the host's is missing. eager: in the call that gives the work,
  /// which shows what was given before it may be done. random: some of it in each call, of any
  /// stream, by numbers that follow from a seed: which shows, with some seed, also where a stream
  /// does not wait for another.
  enum class Lag { none, until_waited, eager, random };

  explicit EmulatedDevice(Lag lag, unsigned seed = 1);
  /// What was not done yet is left.
  ~EmulatedDevice() override;

  std::string name() const override { return "emulated"; }
  Buffer<std::byte> allocate(std::int64_t bytes) override;
  Buffer<std::byte> allocate_on_host(std::int64_t bytes) override;
  bool has(const void* address) const override;
  using Device::reach;
  void* reach(void* address) const override;

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
  bool is_waited_for() const override;

 protected:
  std::vector<Span> traced() override;

 private:
  class Worker;
  class Thread;
  class Queue;
  /// So much of a stream's work.
  struct Moment {
    Worker* worker = nullptr;
    std::int64_t works = 0;
  };

  Worker& worker(Stream stream) const;
  Moment& moment(Event event);
  void give(Stream stream, std::function<void()> work, const char* name = nullptr);
  /// The host does, for so many works of a stream.
  static void wait_for(Worker& worker, std::int64_t works);
  /// What streams do in a call of the host's.
  void go_on();
  /// One work of any stream; false where none can go on, or the schedule is another.
  bool work_at_random();

  Lag lag_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<Worker>> workers_;  ///< one a stream
  std::vector<Moment> moments_;                   ///< one an event
};

}  // namespace halobench

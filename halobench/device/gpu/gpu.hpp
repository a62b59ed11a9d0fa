// SPDX-License-Identifier: BSD-3-Clause
// A GPU by CUDA or HIP: a device whose memory, streams and events are the runtime's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace halobench {

/// Number of GPUs that this process sees. Throws std::runtime_error with the runtime's message if
/// it cannot count them: without a driver, or with one that is older than the runtime.
int visible_gpus();

/// By which a GPU is known to others: its own number as nvidia-smi prints it, which the runtime of
/// AMD's does not tell, and its PCI address.
struct GpuIdentity {
  std::string uuid;
  std::string pci;
};
GpuIdentity gpu_identity(int number);

/// The GPU of a number that visible_gpus() is above. Its memory may be touched by no host: who does
/// ends by a fault of the system's. Its streams don't wait for each other.
class Gpu : public Device {
 public:
  explicit Gpu(int number);
  /// Waits for what was not done yet, unless an exception ends it.
  ~Gpu() override;

  /// As the maker calls it, with the runtime: "NVIDIA H200 (CUDA 13.0)".
  std::string name() const override;
  std::string identity() const override;
  Buffer<std::byte> allocate(std::int64_t bytes) override;
  Buffer<std::byte> allocate_on_host(std::int64_t bytes) override;
  /// Asks the runtime, which costs what it costs a program.
  bool has(const void* address) const override;
  using Device::reach;
  void* reach(void* address) const override { return address; }

  Stream new_stream() override;
  Event new_event() override;
  void* gpu_stream(Stream stream) const override { return streams_[as_size(stream.number)]; }
  /// Throws std::logic_error: what a GPU runs, its compiler must have read.
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

 private:
  int number_;
  std::vector<void*> streams_;
  std::vector<void*> events_;
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Which memory a kernel works in: parameters that kernels share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernel.hpp"
#include "star_forest/ordering.hpp"

namespace halobench {

/// memory, which is a device's, and device_lag: of what uses nothing else.
std::vector<Parameter> device_parameters();

/// memory, mpi and device_lag: of messages without a star forest, which wait for every copy.
std::vector<Parameter> message_parameters();

/// The same, and sync. `always_ready`: what the kernel sends was there long before,
/// so that it is right with the orderings that wait for nothing, too. `by_stream`: all its messages
/// are a star forest's, and may be given to the device's stream (mpi=nccl).
std::vector<Parameter> memory_parameters(bool always_ready, bool by_stream = false);

/// The parameter `mpi`.
enum class Transport { gpu_aware, staged, nccl };

/// These parameters, parsed; those that a kernel does not have are as here.
struct MemorySettings {
  bool on_device;
  std::string lag;
  int sharing;  ///< ranks of a GPU
  Transport transport = Transport::gpu_aware;
  Ordering ordering = Ordering::default_stream;

  /// Do messages pass through the host's memory?
  bool staged() const { return on_device && transport == Transport::staged; }
  /// Does the device's stream send and receive messages by itself?
  bool by_stream() const { return on_device && transport == Transport::nccl; }
};

/// Of a kernel with device_parameters(), message_parameters(), or memory_parameters().
MemorySettings parse_device(const Params& params);
MemorySettings parse_messages(const Params& params);
MemorySettings parse_memory(const Params& params);

/// Adds to a plan what is wrong with them, and why the case can't run in this build.
void plan_memory(const MemorySettings& settings, Plan& plan);

/// Plans so many bytes of messages' buffers: on the host, on a device, and where they are staged.
void plan_buffers(const MemorySettings& settings, double bytes, Plan& plan);

/// The device that the parameters request; none for the host's memory.
std::unique_ptr<Device> chosen_device(const Context& context, const MemorySettings& settings);

/// The device of parameters that request one. Only in programs that have devices.
[[gnu::weak]] std::unique_ptr<Device> made_device(const Context& context,
                                                  const MemorySettings& settings);

/// A small case in the host's memory, and one on a device: at once, and lagging with every ordering
/// and way to send.
std::vector<CaseArguments> small_in_memories(const CaseArguments& on_host,
                                             const CaseArguments& on_device, bool always_ready);

}  // namespace halobench

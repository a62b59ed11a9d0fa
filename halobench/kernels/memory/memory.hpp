// SPDX-License-Identifier: BSD-3-Clause
// Which memory a kernel works in: parameters that kernels share.
#pragma once

#include <memory>
#include <vector>

#include "device/device.hpp"
#include "kernel.hpp"

namespace halobench {

/// memory, which is a device's, and device_lag: of what uses nothing else.
std::vector<Parameter> device_parameters();

/// memory, mpi and device_lag: of messages without a star forest, which wait for every copy.
std::vector<Parameter> message_parameters();

/// The same, and sync. `always_ready`: what the kernel sends was there long before,
/// so that it is right with the orderings that wait for nothing, too. `by_stream`: all its messages
/// are a star forest's, and may be given to the device's stream (mpi=nccl).
std::vector<Parameter> memory_parameters(bool always_ready, bool by_stream = false);

/// Adds to a plan what is wrong with them, and why the case can't run in this build.
void plan_messages(const Params& params, Plan& plan);
void plan_memory(const Params& params, Plan& plan);

/// Was this program built with what memory=device needs?
bool has_devices();

/// Are the kernel's arrays in a device's memory?
bool is_on_device(const Params& params);

/// Are the kernel's messages staged in the host's memory?
bool stages_messages(const Params& params);

/// Plans so many bytes of messages' buffers: on the host, on a device, and where they are staged.
void plan_buffers(const Params& params, double bytes, Plan& plan);

/// The device that the parameters request; none for the host's memory.
std::unique_ptr<Device> chosen_device(const Context& context);

/// The device of parameters that request one. Only in programs that have devices.
[[gnu::weak]] std::unique_ptr<Device> made_device(const Context& context);

/// A small case in the host's memory, and one on a device: at once, and lagging with every ordering
/// and way to send.
std::vector<CaseArguments> small_in_memories(const CaseArguments& on_host,
                                             const CaseArguments& on_device, bool always_ready);

}  // namespace halobench

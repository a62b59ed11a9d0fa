// SPDX-License-Identifier: BSD-3-Clause
// Messages whose buffers are in a device's memory: what MPI is given of them, and what the host
// writes and reads of them outside the timed part.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "device/device.hpp"
#include "machine/memory.hpp"

namespace halobench {

/// A device's copy of a buffer of the host's: places are those of the host's buffer. What MPI is
/// given is the device's memory or, where messages are staged, memory of the host that is copied
/// from and to.
class BufferOnDevice {
 public:
  virtual ~BufferOnDevice() = default;

  /// All that the host's buffer holds, to the device; and back.
  virtual void upload() = 0;
  virtual void download() const = 0;

  /// Where MPI takes a message from, once it may ...
  virtual const void* outgoing(const unsigned char* place, std::int64_t bytes) = 0;
  /// ... and where it puts one, which is the device's after arrived().
  virtual void* incoming(const unsigned char* place) const = 0;
  virtual void arrived(const unsigned char* place, std::int64_t bytes) = 0;
};

using Buffers = std::pair<std::unique_ptr<BufferOnDevice>, std::unique_ptr<BufferOnDevice>>;

/// Of what a kernel sends and of what it receives, on a stream of both; `memory` counts what is
/// allocated. Only in programs that have devices.
[[gnu::weak]] Buffers buffers_on_device(Device& device, Memory& memory,
                                        const Buffer<unsigned char>& sent,
                                        const Buffer<unsigned char>& received, bool staged);

}  // namespace halobench

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
  /// `memory` counts what is allocated.
  BufferOnDevice(Device& device, Stream stream, Memory& memory, const Buffer<unsigned char>& host,
                 bool staged);

  /// All that the host's buffer holds, to the device; and back.
  void upload();
  void download() const;

  /// Where MPI takes a message from, once it may ...
  const void* outgoing(const unsigned char* place, std::int64_t bytes);
  /// ... and where it puts one, which is the device's after arrived().
  void* incoming(const unsigned char* place) const;
  void arrived(const unsigned char* place, std::int64_t bytes);

 private:
  std::byte* on_device(const unsigned char* place) const;

  Device& device_;
  Stream stream_;
  unsigned char* host_;
  std::int64_t bytes_;
  Buffer<std::byte> memory_;
  Buffer<std::byte> stage_;  ///< none where MPI takes the device's memory
};

/// Of what a kernel sends and of what it receives, on a stream of both.
std::pair<std::unique_ptr<BufferOnDevice>, std::unique_ptr<BufferOnDevice>> buffers_on_device(
    Device& device, Memory& memory, const Buffer<unsigned char>& sent,
    const Buffer<unsigned char>& received, bool staged);

}  // namespace halobench

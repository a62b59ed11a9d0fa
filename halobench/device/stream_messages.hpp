// SPDX-License-Identifier: BSD-3-Clause
// Messages that a stream of a device sends and receives itself, in its order, by NCCL: MPI has no
// part in them, and the host waits for nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "device/device.hpp"
#include "mpi/communicator.hpp"

namespace halobench {

/// Between ranks of a communicator, each with a device of its own.
class StreamMessages {
 public:
  /// Bytes of a device's memory, by an address that reach() gave, and the rank at the other end.
  struct Message {
    void* place;
    std::int64_t bytes;
    int rank;
  };

  StreamMessages() = default;
  virtual ~StreamMessages() = default;
  StreamMessages(const StreamMessages&) = delete;
  StreamMessages& operator=(const StreamMessages&) = delete;

  /// Gives the stream messages that travel at once: they begin when all is done that it was given
  /// before, and what it is given next is done when all of them have left and arrived. Two ranks
  /// give each other's messages in the same order, each of the same length at both ends; where they
  /// don't, streams may wait for ever. Throws std::runtime_error where that fails to begin.
  virtual void exchange(Device& device, Stream stream, std::span<const Message> sent,
                        std::span<const Message> received) = 0;
};

/// Why no stream of this build sends or receives, and what to do; empty where they do. Only in
/// programs that have devices.
[[gnu::weak]] std::string stream_messages_missing();

/// Collective, after make_device(), where nothing is missing. Throws UsageError, on every rank the
/// same, with NCCL's message where ranks cannot connect.
std::unique_ptr<StreamMessages> connect_streams(const Communicator& comm);

}  // namespace halobench

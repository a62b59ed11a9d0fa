// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for NCCL: a stream of an emulated device calls MPI, in its order, when it gets there.
#pragma once

#include <vector>

#include "base/simulation.hpp"
#include "device/stream_messages.hpp"
#include "expect.hpp"

namespace halobench {

/// MPI must have been begun for calls of several threads at once.
class MpiOnStream : public StreamMessages {
 public:
  explicit MpiOnStream(const Communicator& parent) : comm_(parent.handle()) {}

  void exchange(Device& device, Stream stream, std::span<const Message> sent,
                std::span<const Message> received) override {
    const std::vector<Message> out(sent.begin(), sent.end());
    const std::vector<Message> in(received.begin(), received.end());
    device.launch(stream, {}, [out, in, comm = comm_.handle()] {
      std::vector<MPI_Request> requests;
      for (const auto& [place, bytes, rank] : in) {
        check(MPI_Irecv(place, message_count(bytes), MPI_BYTE, rank, 0, comm,
                        &requests.emplace_back()),
              "MPI_Irecv");
      }
      for (const auto& [place, bytes, rank] : out) {
        check(MPI_Isend(place, message_count(bytes), MPI_BYTE, rank, 0, comm,
                        &requests.emplace_back()),
              "MPI_Isend");
      }
      check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
    });
  }

 private:
  Communicator comm_;  ///< where no other message is taken for one of these
};

/// MPI_Init to MPI_Finalize, for such calls.
class EnvironmentOfThreads {
 public:
  EnvironmentOfThreads(int& argc, char**& argv) {
    int provided = MPI_THREAD_SINGLE;
    check(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    if (!simulated()) expect::equal(provided, MPI_THREAD_MULTIPLE);
  }
  ~EnvironmentOfThreads() { MPI_Finalize(); }
  EnvironmentOfThreads(const EnvironmentOfThreads&) = delete;
  EnvironmentOfThreads& operator=(const EnvironmentOfThreads&) = delete;
};

}  // namespace halobench

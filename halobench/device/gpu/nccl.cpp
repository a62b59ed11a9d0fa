// SPDX-License-Identifier: BSD-3-Clause
// NCCL's messages between GPUs, each a send and a receive that a stream is given.
#include <nccl.h>

#include <exception>
#include <stdexcept>

#include "base/as_size.hpp"
#include "device/stream_messages.hpp"
#include "mpi/agreement.hpp"

namespace halobench {
namespace {

/// What NCCL says of a call; empty if it succeeded.
std::string problem(ncclResult_t code, const char* call) {
  if (code == ncclSuccess) return {};
  const std::string last = ncclGetLastError(nullptr);
  return std::string("mpi=nccl: ") + call + ": " + ncclGetErrorString(code) +
         (last.empty() ? "" : ": " + last) + "; set NCCL_DEBUG=WARN for details";
}

void require(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw std::runtime_error(problem(code, call));
}

class Nccl : public StreamMessages {
 public:
  /// Rank 0 makes the name that all ranks meet by, which MPI carries.
  explicit Nccl(const Communicator& comm) {
    ncclUniqueId id{};
    const auto code = comm.rank() == 0 ? ncclGetUniqueId(&id) : ncclSuccess;
    refuse_together(comm, problem(code, "ncclGetUniqueId"));
    check(MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, comm.handle()), "MPI_Bcast");
    refuse_together(
        comm, problem(ncclCommInitRank(&comm_, comm.size(), id, comm.rank()), "ncclCommInitRank"));
  }

  /// A rank that gives up alone must not wait for the others, as all that end together do.
  ~Nccl() override {
    const bool alone = std::uncaught_exceptions() > 0;
    static_cast<void>(alone ? ncclCommAbort(comm_) : ncclCommDestroy(comm_));
  }

  void exchange(Device& device, Stream stream, std::span<const Message> sent,
                std::span<const Message> received) override {
    auto* on = static_cast<cudaStream_t>(device.gpu_stream(stream));
    require(ncclGroupStart(), "ncclGroupStart");
    for (const auto& [place, bytes, rank] : received) {
      require(ncclRecv(place, as_size(bytes), ncclInt8, rank, comm_, on), "ncclRecv");
    }
    for (const auto& [place, bytes, rank] : sent) {
      require(ncclSend(place, as_size(bytes), ncclInt8, rank, comm_, on), "ncclSend");
    }
    require(ncclGroupEnd(), "ncclGroupEnd");
  }

 private:
  ncclComm_t comm_ = nullptr;
};

}  // namespace

std::unique_ptr<StreamMessages> connect_streams(const Communicator& comm) {
  return std::make_unique<Nccl>(comm);
}

}  // namespace halobench

// A sum over all ranks that travels while the ranks compute.
#pragma once

#include <mpi.h>

#include <span>

#include "mpi/communicator.hpp"

namespace halobench {

/// The sum of `values` over all ranks, in place; they must stay where they are, untouched, until
/// finish(), which must be called.
class PendingSum {
 public:
  PendingSum(const Communicator& comm, std::span<double> values) {
    check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), message_count(std::ssize(values)), MPI_DOUBLE,
                         MPI_SUM, comm.handle(), &request_),
          "MPI_Iallreduce");
  }
  PendingSum(const PendingSum&) = delete;
  PendingSum& operator=(const PendingSum&) = delete;

  void finish() { check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait"); }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace halobench

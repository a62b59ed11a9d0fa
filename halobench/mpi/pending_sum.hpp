// SPDX-License-Identifier: BSD-3-Clause
// A sum over all ranks that travels while the ranks compute.
#pragma once

#include <mpi.h>

#include <optional>
#include <span>

#include "base/simulation.hpp"
#include "mpi/communicator.hpp"

namespace halobench {

/// The sum of `values` over all ranks, in place; they must stay where they are, untouched, until
/// finish(), which must be called. Under simulation `comm` must have all ranks.
class PendingSum {
 public:
  PendingSum(const Communicator& comm, std::span<double> values) {
    if (simulated()) {
      background_.emplace(comm.rank(), comm.size(), values);
      return;
    }
    check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), message_count(std::ssize(values)), MPI_DOUBLE,
                         MPI_SUM, comm.handle(), &request_),
          "MPI_Iallreduce");
  }
  PendingSum(const PendingSum&) = delete;
  PendingSum& operator=(const PendingSum&) = delete;

  void finish() {
    if (background_) return background_->finish();
    check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  }

 private:
  std::optional<SumInBackground> background_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace halobench

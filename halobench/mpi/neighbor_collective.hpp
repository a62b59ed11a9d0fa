// SPDX-License-Identifier: BSD-3-Clause
// All messages of a rank with its neighbours in one collective call: MPI_Neighbor_alltoallw.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/payload.hpp"

namespace halobench {

/// Why it is missing, and the remedy; empty where it is available.
std::string neighbor_collective_missing();

/// A graph of ranks, set up once, and the exchange along its edges. Two ranks may share several
/// edges: the first message that one sends to the other is the first that this one receives from
/// it.
class NeighborCollective {
 public:
  /// The messages of one direction, in order.
  class Side {
   public:
    void add(int rank, const Payload& data);

   private:
    friend class NeighborCollective;
    int degree() const { return message_count(std::ssize(ranks_)); }

    std::vector<int> ranks_;
    std::vector<int> counts_;
    std::vector<MPI_Aint> addresses_;
    std::vector<MPI_Datatype> types_;
  };

  /// Collective; a rank may have no neighbour. Payloads must stay where they are.
  NeighborCollective(const Communicator& comm, Side outgoing, Side incoming);
  ~NeighborCollective();
  NeighborCollective(const NeighborCollective&) = delete;
  NeighborCollective& operator=(const NeighborCollective&) = delete;

  /// Returns when what comes in is there and what goes out may be changed.
  void run() const;

 private:
  Side outgoing_;
  Side incoming_;
  MPI_Comm graph_ = MPI_COMM_NULL;
};

}  // namespace halobench

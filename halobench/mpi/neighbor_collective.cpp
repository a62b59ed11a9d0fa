// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/neighbor_collective.hpp"

#include <utility>

#include "base/simulation.hpp"

namespace halobench {

std::string neighbor_collective_missing() {
  if (!simulated()) return "";
  return "SimGrid's MPI (3.32, 4.1) has no neighbourhood collectives; give exchange=nonblocking";
}

void NeighborCollective::Side::add(int rank, const Payload& data) {
  ranks_.push_back(rank);
  counts_.push_back(message_count(data.count));
  check(MPI_Get_address(data.first, &addresses_.emplace_back()), "MPI_Get_address");
  types_.push_back(data.type);
}

NeighborCollective::NeighborCollective(const Communicator& comm, Side outgoing, Side incoming)
    : outgoing_(std::move(outgoing)), incoming_(std::move(incoming)) {
  const int keep_ranks = 0;
  check(MPI_Dist_graph_create_adjacent(comm.handle(), incoming_.degree(), incoming_.ranks_.data(),
                                       MPI_UNWEIGHTED, outgoing_.degree(), outgoing_.ranks_.data(),
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, keep_ranks, &graph_),
        "MPI_Dist_graph_create_adjacent");
}

NeighborCollective::~NeighborCollective() { MPI_Comm_free(&graph_); }

void NeighborCollective::run() const {
  check(MPI_Neighbor_alltoallw(MPI_BOTTOM, outgoing_.counts_.data(), outgoing_.addresses_.data(),
                               outgoing_.types_.data(), MPI_BOTTOM, incoming_.counts_.data(),
                               incoming_.addresses_.data(), incoming_.types_.data(), graph_),
        "MPI_Neighbor_alltoallw");
}

}  // namespace halobench

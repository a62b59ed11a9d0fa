// SPDX-License-Identifier: BSD-3-Clause
// Lists for a few ranks each, where nobody knows from whom to expect one.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/communicator.hpp"
#include "star_forest/index_set.hpp"

namespace halobench {

/// Numbers for one rank, or from it.
struct Parcel {
  int rank = 0;
  Indices numbers;
};

/// Delivers every parcel; returns what came for this rank, in rank order. Collective. At most one
/// parcel for each rank, none for this one.
///
/// Time grows with the parcels of a rank and with log(ranks), memory with the parcels alone:
/// synchronous sends, and a barrier that a rank enters once its own have been received, so that its
/// end says that nothing is under way any more (NBX: T. Hoefler, C. Siebert, A. Lumsdaine, Scalable
/// Communication Protocols for Dynamic Sparse Data Exchange, PPoPP 2010). Counting messages with
/// MPI_Reduce_scatter instead takes memory and time that grow with the number of ranks.
///
/// A second exchange on the same communicator needs something between them that makes all ranks
/// wait for all, such as a reduction: else a parcel of the second may be taken for one of the
/// first.
std::vector<Parcel> sparse_exchange(const Communicator& comm, const std::vector<Parcel>& parcels);

}  // namespace halobench

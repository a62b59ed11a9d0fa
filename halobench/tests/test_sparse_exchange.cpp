// SPDX-License-Identifier: BSD-3-Clause
// Parcels for a few ranks: each arrives once, whoever sends to whom.
#include "base/as_size.hpp"
#include "expect.hpp"
#include "star_forest/sparse_exchange.hpp"

using namespace halobench;

namespace {

/// Whether rank `from` has a parcel for rank `to`; another pattern each round.
bool sends(int from, int to, int round) {
  return from != to && (3 * from + 5 * to + round) % (1 + round % 4) == 0;
}

Indices numbers(int from, int to, int round) {
  return Indices(as_size((from + round) % 3 * 5000), 100 * from + to);
}

void parcels_arrive(const Communicator& comm, int round) {
  std::vector<Parcel> parcels;
  std::vector<int> senders;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (sends(comm.rank(), rank, round)) {
      parcels.push_back({rank, numbers(comm.rank(), rank, round)});
    }
    if (sends(rank, comm.rank(), round)) senders.push_back(rank);
  }
  const auto received = sparse_exchange(comm, parcels);
  comm.barrier();
  expect::equal(received.size(), senders.size());
  for (std::size_t i = 0; i < std::min(received.size(), senders.size()); ++i) {
    expect::equal(received[i].rank, senders[i]);
    expect::is_true(received[i].numbers == numbers(senders[i], comm.rank(), round),
                    "other numbers arrived");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  for (int round = 0; round < 50; ++round) parcels_arrive(comm, round);
  return expect::exit_code();
}

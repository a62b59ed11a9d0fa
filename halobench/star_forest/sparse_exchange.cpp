// SPDX-License-Identifier: BSD-3-Clause
#include "star_forest/sparse_exchange.hpp"

#include <algorithm>
#include <array>

#include "base/as_size.hpp"

namespace halobench {
namespace {

constexpr int tag = 0;
constexpr int signal_tag = 1;

/// Receives one parcel, if one is there.
void receive(const Communicator& comm, std::vector<Parcel>& received) {
  int there = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.handle(), &there, &status), "MPI_Iprobe");
  if (there == 0) return;
  int count = 0;
  check(MPI_Get_count(&status, MPI_INT64_T, &count), "MPI_Get_count");
  Parcel& parcel = received.emplace_back();
  parcel.rank = status.MPI_SOURCE;
  parcel.numbers.resize(as_size(count));
  check(MPI_Recv(parcel.numbers.data(), count, MPI_INT64_T, parcel.rank, tag, comm.handle(),
                 MPI_STATUS_IGNORE),
        "MPI_Recv");
}

bool completed(MPI_Request& request) {
  int done = 0;
  check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

/// One round of a dissemination barrier: a signal from one rank, and one to another. (Not
/// MPI_Ibarrier: that of SMPI 3.32 lets ranks leave before all have come.)
std::array<MPI_Request, 2> pass_signal(const Communicator& comm, int distance) {
  const int to = (comm.rank() + distance) % comm.size();
  const int from = (comm.rank() - distance + comm.size()) % comm.size();
  std::array requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  check(MPI_Irecv(nullptr, 0, MPI_BYTE, from, signal_tag, comm.handle(), &requests[0]),
        "MPI_Irecv");
  check(MPI_Isend(nullptr, 0, MPI_BYTE, to, signal_tag, comm.handle(), &requests[1]), "MPI_Isend");
  return requests;
}

}  // namespace

std::vector<Parcel> sparse_exchange(const Communicator& comm, const std::vector<Parcel>& parcels) {
  std::vector<MPI_Request> pending;
  for (const auto& [rank, numbers] : parcels) {
    check(MPI_Issend(numbers.data(), message_count(std::ssize(numbers)), MPI_INT64_T, rank, tag,
                     comm.handle(), &pending.emplace_back()),
          "MPI_Issend");
  }
  std::vector<Parcel> received;
  const auto receive_until_completed = [&](auto& requests) {
    for (auto& request : requests) {
      while (!completed(request)) receive(comm, received);
    }
  };
  receive_until_completed(pending);
  for (int distance = 1; distance < comm.size(); distance *= 2) {
    auto signals = pass_signal(comm, distance);
    receive_until_completed(signals);
  }
  std::ranges::sort(received, {}, &Parcel::rank);
  return received;
}

}  // namespace halobench

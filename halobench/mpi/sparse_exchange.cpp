#include "mpi/sparse_exchange.hpp"

#include <algorithm>

namespace halobench {
namespace {

constexpr int tag = 0;

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
  parcel.numbers.resize(static_cast<std::size_t>(count));
  check(MPI_Recv(parcel.numbers.data(), count, MPI_INT64_T, parcel.rank, tag, comm.handle(),
                 MPI_STATUS_IGNORE),
        "MPI_Recv");
}

bool completed(std::vector<MPI_Request>& requests) {
  int done = 0;
  check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
  return done != 0;
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
  while (!completed(pending)) receive(comm, received);
  pending.resize(1);
  check(MPI_Ibarrier(comm.handle(), pending.data()), "MPI_Ibarrier");
  while (!completed(pending)) receive(comm, received);
  std::ranges::sort(received, {}, &Parcel::rank);
  return received;
}

}  // namespace halobench

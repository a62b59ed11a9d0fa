// SPDX-License-Identifier: BSD-3-Clause
// An MPI whose messages arrive when they are waited for, and no earlier: until then, persistent
// receives leave no number where they are to arrive. All that MPI promises is kept. For one file of
// a program, which then has MPI_Recv_init and what goes with it in place of the library's.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <vector>

namespace halobench::late_mpi {

struct Receive {
  void* into;
  std::vector<std::byte> arrived;
};

inline std::map<MPI_Request, Receive>& receives() {
  static std::map<MPI_Request, Receive> all;
  return all;
}

inline void began(MPI_Request request) {
  const auto found = receives().find(request);
  if (found == receives().end()) return;
  std::memset(found->second.into, 0xff, found->second.arrived.size());
}

}  // namespace halobench::late_mpi

extern "C" {

int MPI_Recv_init(void* into, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  int size = 0;
  PMPI_Type_size(type, &size);
  std::vector<std::byte> arrived(static_cast<std::size_t>(count) * static_cast<std::size_t>(size));
  const int code = PMPI_Recv_init(arrived.data(), count, type, rank, tag, comm, request);
  halobench::late_mpi::receives()[*request] = {into, std::move(arrived)};
  return code;
}

int MPI_Start(MPI_Request* request) {
  halobench::late_mpi::began(*request);
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) halobench::late_mpi::began(requests[i]);
  return PMPI_Startall(count, requests);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const auto found = halobench::late_mpi::receives().find(*request);
  const int code = PMPI_Wait(request, status);
  if (found == halobench::late_mpi::receives().end()) return code;
  const auto& [into, arrived] = found->second;
  std::memcpy(into, arrived.data(), arrived.size());
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  halobench::late_mpi::receives().erase(*request);
  return PMPI_Request_free(request);
}
}

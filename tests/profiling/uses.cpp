// SPDX-License-Identifier: BSD-3-Clause
// Calls of each way in which a message is begun and ended, on the world and on a named half of it.
#include <mpi.h>

#include <vector>

static void exchange(int next, int before) {
  std::vector<double> own(100), theirs(100);
  MPI_Request requests[2];
  MPI_Irecv(theirs.data(), 100, MPI_DOUBLE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(own.data(), 100, MPI_DOUBLE, next, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0, value = 0, other = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  for (int i = 0; i < 5; ++i) exchange(next, before);

  if (rank > 0) MPI_Send(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
  for (int i = 1; rank == 0 && i < ranks; ++i)
    MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&value, 0, MPI_INT, next, 5, &other, 0, MPI_INT, before, 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);

  MPI_Request sends = MPI_REQUEST_NULL, receives = MPI_REQUEST_NULL;
  MPI_Send_init(&value, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &sends);
  MPI_Recv_init(&other, 1, MPI_INT, before, 6, MPI_COMM_WORLD, &receives);
  MPI_Start(&receives);
  MPI_Start(&sends);
  MPI_Wait(&sends, MPI_STATUS_IGNORE);
  MPI_Wait(&receives, MPI_STATUS_IGNORE);
  MPI_Request_free(&sends);
  MPI_Request_free(&receives);

  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_set_name(half, "pair");
  for (int i = 0; i < 2; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, half);
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&half);
  MPI_Finalize();
}

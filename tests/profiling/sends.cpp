// SPDX-License-Identifier: BSD-3-Clause
// Sends what a test knows to the byte, in every way that is counted.
#include <mpi.h>

#include <cstddef>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  std::vector<double> own(100), theirs(100);
  MPI_Pcontrol(1);  // other tools' word: no name stands beside it

  MPI_Pcontrol(1000, "ring");
  MPI_Request requests[2];
  MPI_Irecv(theirs.data(), 10, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(own.data(), 10, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &requests[1]);  // 80 bytes
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(own.data(), 4, MPI_INT, next, 0, theirs.data(), 4, MPI_INT, before, 0,
               MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);  // 16 bytes
  MPI_Sendrecv(own.data(), 4, MPI_INT, MPI_PROC_NULL, 0, theirs.data(), 4, MPI_INT, MPI_PROC_NULL,
               0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // to nobody: no message

  MPI_Pcontrol(1000, "turned round");  // rank 0 is the last one there
  MPI_Comm turned;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  if (rank == 0) MPI_Send(own.data(), 3, MPI_CHAR, 0, 7, turned);  // to the last rank of the world
  if (rank == ranks - 1)
    MPI_Recv(theirs.data(), 3, MPI_CHAR, ranks - 1, 7, turned, MPI_STATUS_IGNORE);
  MPI_Comm_free(&turned);

  MPI_Pcontrol(1000, "again");
  MPI_Datatype pairs;
  MPI_Type_vector(5, 2, 4, MPI_DOUBLE, &pairs);  // 10 doubles
  MPI_Type_commit(&pairs);
  MPI_Send_init(own.data(), 1, pairs, next, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(theirs.data(), 10, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, requests);  // three times 80 bytes
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Type_free(&pairs);

  MPI_Pcontrol(1000, "together");
  std::vector<int> counts(static_cast<std::size_t>(ranks), 2), starts(counts.size());
  for (int i = 0; i < ranks; ++i) starts[static_cast<std::size_t>(i)] = 2 * i;
  MPI_Alltoallv(own.data(), counts.data(), starts.data(), MPI_DOUBLE, theirs.data(), counts.data(),
                starts.data(), MPI_DOUBLE, MPI_COMM_WORLD);  // 16 bytes to each
  MPI_Bcast(own.data(), 5, MPI_DOUBLE, 0, MPI_COMM_WORLD);   // 40 bytes, of the root
  MPI_Allreduce(MPI_IN_PLACE, own.data(), 1, MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);  // 8 bytes of each
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<MPI_Datatype> types(counts.size(), MPI_DOUBLE);
  for (int& start : starts) start *= static_cast<int>(sizeof(double));  // these are in bytes
  MPI_Alltoallw(own.data(), counts.data(), starts.data(), types.data(), theirs.data(),
                counts.data(), starts.data(), types.data(), MPI_COMM_WORLD);  // 16 bytes to each

  MPI_Pcontrol(1000, "of two sides");  // rank 0 there, all others here
  MPI_Comm side, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &both);
  // 32 bytes, of the root, and not of those to whom the root is rank 0
  MPI_Bcast(own.data(), 4, MPI_DOUBLE, rank == 0 ? MPI_ROOT : 0, both);
  // 24 bytes of each but the root
  MPI_Gather(own.data(), 3, MPI_DOUBLE, theirs.data(), 3, MPI_DOUBLE, rank == 0 ? MPI_ROOT : 0,
             both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&side);

#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  MPI_Pcontrol(1000, "without waiting");
  MPI_Isendrecv(own.data(), 4, MPI_INT, next, 0, theirs.data(), 4, MPI_INT, before, 0,
                MPI_COMM_WORLD, &requests[0]);  // 16 bytes
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Isendrecv_replace(own.data(), 2, MPI_INT, next, 0, before, 0, MPI_COMM_WORLD,
                        &requests[0]);  // 8 bytes
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

  MPI_Pcontrol(1000, "in parts");
  MPI_Psend_init(own.data(), 5, 2, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[0]);
  MPI_Precv_init(theirs.data(), 5, 2, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[1]);
  for (int i = 0; i < 2; ++i) {  // twice 80 bytes
    MPI_Startall(2, requests);
    for (int part = 0; part < 5; ++part) MPI_Pready(part, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);

  MPI_Pcontrol(1000, "together again");
  MPI_Bcast_init(own.data(), 5, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  for (int i = 0; i < 3; ++i) {  // three times 40 bytes, of the root
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&requests[0]);
#endif
#if MPI_VERSION >= 4
  MPI_Pcontrol(1000, "by large counts");
  const MPI_Count ten = 10;
  MPI_Sendrecv_c(own.data(), ten, MPI_DOUBLE, next, 0, theirs.data(), ten, MPI_DOUBLE, before, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // 80 bytes
  MPI_Irecv(theirs.data(), 10, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend_c(own.data(), ten, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &requests[1]);  // 80 bytes
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Allreduce_c(own.data(), theirs.data(), ten, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  // 80
#endif
  MPI_Finalize();
  return 0;
}

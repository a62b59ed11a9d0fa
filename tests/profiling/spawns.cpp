// SPDX-License-Identifier: BSD-3-Clause
// A program that starts two more ranks of itself, twice, and sends them what a test knows.
#include <mpi.h>

#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<double> data(100);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Pcontrol(1000, "child");
    if (rank == 0)
      MPI_Recv(data.data(), 10, MPI_DOUBLE, 0, 0, parent, MPI_STATUS_IGNORE);
    else
      MPI_Send(data.data(), 3, MPI_DOUBLE, 0, 1, parent);  // 24 bytes to the rank that spawned
    MPI_Sendrecv(data.data(), 1, MPI_DOUBLE, 1 - rank, 2, &data[50], 1, MPI_DOUBLE, 1 - rank, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // 8 bytes within
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  MPI_Pcontrol(1000, "parent");
  if (rank == 1) {  // not the first rank: it is rank 0 of MPI_COMM_SELF
    MPI_Comm child;
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child,
                   MPI_ERRCODES_IGNORE);
    MPI_Send(data.data(), 10, MPI_DOUBLE, 0, 0, child);  // 80 bytes
    MPI_Recv(data.data(), 3, MPI_DOUBLE, 1, 1, child, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&child);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm child;
  MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &child,
                 MPI_ERRCODES_IGNORE);
  if (rank == 0) {
    MPI_Send(data.data(), 5, MPI_DOUBLE, 0, 0, child);  // 40 bytes
    MPI_Recv(data.data(), 3, MPI_DOUBLE, 1, 1, child, MPI_STATUS_IGNORE);
  }
  MPI_Comm_disconnect(&child);
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A program whose first rank sends three messages of 100 bytes, and then ends as it is told.
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  char data[100] = "";
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i)
    if (rank == 0)
      MPI_Send(data, 100, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(data, 100, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && std::strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (rank == 0 && std::strcmp(argv[1], "kill") == 0) std::raise(SIGKILL);
  if (rank == 0 && std::strcmp(argv[1], "fault") == 0) std::raise(SIGSEGV);
  if (rank == 0 && std::strcmp(argv[1], "exit") == 0) std::_Exit(3);
  if (std::strcmp(argv[1], "wait") == 0) {  // for what ends this from outside
    if (rank == 0) std::fclose(std::fopen(argv[2], "w"));
    for (;;) pause();
  }
  MPI_Recv(data, 1, MPI_CHAR, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
}

// SPDX-License-Identifier: BSD-3-Clause
/* Ranks that send each other messages until they are killed; SPIN_MARK is made when they do. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  static char message[100000];
  int rank = 0;
  long round = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (;; ++round) {
    MPI_Bcast(message, sizeof message, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(message, sizeof message, MPI_CHAR, 1 - rank, 0, 1 - rank, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (round == 10 && rank == 0) fclose(fopen(getenv("SPIN_MARK"), "w"));
  }
}

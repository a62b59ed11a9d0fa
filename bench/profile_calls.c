// SPDX-License-Identifier: BSD-3-Clause
// Processor time of MPI calls of one rank, which wait for nobody: a message to itself, and a sum.
// Prints nanoseconds per message (MPI_Irecv, MPI_Isend, MPI_Waitall) and per MPI_Allreduce.
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { TIMES = 200000 };

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
  return 1e9 * (double)at.tv_sec + (double)at.tv_nsec;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double sent = 1, received = 0, begin = 0, message = 0;
  for (int k = -TIMES / 10; k < TIMES; ++k) {
    if (k == 0) begin = now();
    MPI_Request both[2];
    MPI_Irecv(&received, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(&sent, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  message = (now() - begin) / TIMES;
  for (int k = -TIMES / 10; k < TIMES; ++k) {
    if (k == 0) begin = now();
    MPI_Allreduce(&sent, &received, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  printf("%.2f %.2f\n", message, (now() - begin) / TIMES);
  return MPI_Finalize();
}

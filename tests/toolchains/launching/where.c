// SPDX-License-Identifier: BSD-3-Clause
/* Rank 0 writes a line for each rank: the processors that each of its threads may run on. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

enum { MOST_RANKS = 64, MOST_THREADS = 16, LINE = 16384 };

static void write_cpus(char* text) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  int length = sprintf(text, "[");
  for (int cpu = 0; cpu < CPU_SETSIZE && length < 900; ++cpu) {
    if (CPU_ISSET(cpu, &set)) length += sprintf(text + length, "%s%d", length > 1 ? "," : "", cpu);
  }
  sprintf(text + length, "]");
}

int main(int argc, char** argv) {
  static char threads[MOST_THREADS][1000], mine[LINE], all[MOST_RANKS][LINE];
  int rank, ranks, used = 1, length;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#pragma omp parallel
  {
    write_cpus(threads[omp_get_thread_num()]);
#pragma omp single
    used = omp_get_num_threads();
  }
  length = sprintf(mine, "{\"rank\":%d,\"ranks\":%d,\"threads\":[", rank, ranks);
  for (int i = 0; i < used; ++i) length += sprintf(mine + length, "%s%s", i ? "," : "", threads[i]);
  sprintf(mine + length, "]}");
  MPI_Gather(mine, LINE, MPI_CHAR, all, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < ranks; ++i) printf("%s\n", all[i]);
  MPI_Finalize();
  return 0;
}

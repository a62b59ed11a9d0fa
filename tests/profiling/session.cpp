// SPDX-License-Identifier: BSD-3-Clause
// A program of MPI-4 sessions, one after the other, without MPI_Init.
#include <mpi.h>

#include <cstdlib>

int main(int, char** argv) {
  for (int left = std::atoi(argv[1]); left > 0; --left) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    int rank = 0, ranks = 1, data[2] = {0, 0};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Sendrecv(&data[0], 1, MPI_INT, (rank + 1) % ranks, 0, &data[1], 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, comm, MPI_STATUS_IGNORE);  // 4 bytes
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
  }
  return 0;
}

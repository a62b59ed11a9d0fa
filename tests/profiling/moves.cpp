// SPDX-License-Identifier: BSD-3-Clause
// Moves what a test knows to the byte without sending a message: one-sided, by neighbours, to
// files.
#include <mpi.h>

#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int next = (rank + 1) % ranks;
  std::vector<double> own(100), theirs(100), shared(100);
  double one = 1, result = 0, before = 0;
  MPI_Request request;

  MPI_Win window;
  MPI_Comm turned;  // rank 0 is the last one there
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  const int there = ranks - 1 - next;
  MPI_Win_create(shared.data(), 800, 8, MPI_INFO_NULL, turned, &window);
  MPI_Pcontrol(1000, "fence");
  MPI_Win_fence(0, window);
  MPI_Put(own.data(), 4, MPI_DOUBLE, there, 0, 4, MPI_DOUBLE, window);                  // 32
  MPI_Accumulate(own.data(), 2, MPI_DOUBLE, there, 8, 2, MPI_DOUBLE, MPI_SUM, window);  // 16
  MPI_Put(own.data(), 4, MPI_DOUBLE, MPI_PROC_NULL, 0, 4, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Pcontrol(1000, "get");
  MPI_Get(theirs.data(), 3, MPI_DOUBLE, there, 16, 3, MPI_DOUBLE, window);  // 24 come
  MPI_Win_fence(0, window);
  MPI_Pcontrol(1000, "lock");
  MPI_Win_lock_all(0, window);
  MPI_Rput(own.data(), 1, MPI_DOUBLE, there, 30, 1, MPI_DOUBLE, window, &request);  // 8
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Rget(theirs.data(), 1, MPI_DOUBLE, there, 31, 1, MPI_DOUBLE, window, &request);  // 8 come
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Raccumulate(own.data(), 1, MPI_DOUBLE, there, 32, 1, MPI_DOUBLE, MPI_SUM, window,
                  &request);  // 8
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Pcontrol(1000, "both ways");
  MPI_Get_accumulate(own.data(), 2, MPI_DOUBLE, theirs.data(), 2, MPI_DOUBLE, there, 40, 2,
                     MPI_DOUBLE, MPI_SUM, window);  // 16, 16 come
  MPI_Get_accumulate(nullptr, 0, MPI_DOUBLE, theirs.data(), 2, MPI_DOUBLE, there, 40, 2, MPI_DOUBLE,
                     MPI_NO_OP, window);  // 16 come
  MPI_Rget_accumulate(own.data(), 1, MPI_DOUBLE, theirs.data(), 1, MPI_DOUBLE, there, 44, 1,
                      MPI_DOUBLE, MPI_SUM, window, &request);  // 8, 8 come
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Fetch_and_op(&one, &result, MPI_DOUBLE, there, 50, MPI_SUM, window);  // 8, 8 come
  int swap[3] = {1, 0, 0};
  MPI_Compare_and_swap(&swap[0], &swap[1], &swap[2], MPI_INT, there, 60, window);  // 8, 4 come
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);

  MPI_Pcontrol(1000, "line");
  const int ends = 0;
  MPI_Comm line;  // not periodic: those at its ends have one neighbour
  MPI_Cart_create(turned, 1, &ranks, &ends, 0, &line);
  MPI_Neighbor_allgather(own.data(), 2, MPI_DOUBLE, theirs.data(), 2, MPI_DOUBLE, line);  // 16
  MPI_Ineighbor_alltoall(own.data(), 1, MPI_DOUBLE, theirs.data(), 1, MPI_DOUBLE, line,
                         &request);  // 8
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Pcontrol(1000, "graph");
  MPI_Comm graph;  // sends to the next rank and to itself
  int sources[2] = {(rank + ranks - 1) % ranks, rank}, destinations[2] = {next, rank};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  int counts[2] = {3, 1}, starts[2] = {0, 3}, ones[2] = {1, 1};
  MPI_Neighbor_alltoallv(own.data(), counts, starts, MPI_DOUBLE, theirs.data(), counts, starts,
                         MPI_DOUBLE, graph);  // 24, and 8 to itself
  MPI_Neighbor_allgatherv(own.data(), 1, MPI_DOUBLE, theirs.data(), ones, starts, MPI_DOUBLE,
                          graph);  // 8 to each
  MPI_Aint places[2] = {0, 24};
  MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Neighbor_alltoallw(own.data(), counts, places, types, theirs.data(), counts, places, types,
                         graph);  // 12, and 8 to itself
#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  MPI_Neighbor_alltoall_init(own.data(), 1, MPI_DOUBLE, theirs.data(), 1, MPI_DOUBLE, graph,
                             MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {  // twice 8 to each
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
#endif

  MPI_Pcontrol(1000, "file");
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, 80 * rank, own.data(), 10, MPI_DOUBLE, MPI_STATUS_IGNORE);      // 80
  MPI_File_write_at_all(file, 80 * rank, own.data(), 10, MPI_DOUBLE, MPI_STATUS_IGNORE);  // 80
  MPI_File_read_at_all_begin(file, 80 * rank, theirs.data(), 5, MPI_DOUBLE);              // 40
  MPI_File_read_at_all_end(file, theirs.data(), MPI_STATUS_IGNORE);
  MPI_File_iread_at(file, 80 * rank, theirs.data(), 1, MPI_DOUBLE, &request);  // 8
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read(file, theirs.data(), 2, MPI_DOUBLE, MPI_STATUS_IGNORE);          // 16
  MPI_File_read_ordered(file, theirs.data(), 2, MPI_DOUBLE, MPI_STATUS_IGNORE);  // 16
#if MPI_VERSION >= 4
  MPI_Pcontrol(1000, "by large counts");
  const MPI_Count ten = 10;
  MPI_File_write_at_c(file, 80 * rank, own.data(), ten, MPI_DOUBLE, MPI_STATUS_IGNORE);  // 80
  MPI_Neighbor_allgather_c(own.data(), ten, MPI_DOUBLE, theirs.data(), ten, MPI_DOUBLE,
                           line);  // 80
#endif
  MPI_File_close(&file);

  MPI_Pcontrol(1000, "shared");
  double* memory = nullptr;
  MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  *memory = before;
  MPI_Win_free(&window);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&line);
  MPI_Comm_free(&turned);
  MPI_Finalize();
  return 0;
}

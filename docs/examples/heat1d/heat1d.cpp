// SPDX-License-Identifier: BSD-3-Clause
// The heat equation on a rod, split over ranks: an example of an external program.
// usage: mpirun ... heat1d POINTS STEPS        (docs/programs.md)
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 3) return std::fprintf(stderr, "usage: heat1d POINTS STEPS\n"), MPI_Finalize(), 2;
  const long points = std::atol(argv[1]), steps = std::atol(argv[2]);

  // A cosine keeps its shape and loses the same share of its amplitude in every step.
  const long first = points * rank / ranks, last = points * (rank + 1) / ranks, own = last - first;
  const double wave = std::acos(-1.0) / static_cast<double>(points), rate = 0.25;
  const auto cosine = [&](long i) { return std::cos(wave * (static_cast<double>(i) + 0.5)); };
  std::vector<double> u(static_cast<size_t>(own + 2)), next(u.size());
  for (long i = 0; i < own; ++i) u[static_cast<size_t>(i + 1)] = cosine(first + i);

  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  double seconds[2] = {0.0, 0.0};  // exchange, compute
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (long step = 0; step < steps; ++step) {
    const double a = MPI_Wtime();
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 0, &u.back(), 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[u.size() - 2], 1, MPI_DOUBLE, right, 0, &u[0], 1, MPI_DOUBLE, left, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (left == MPI_PROC_NULL) u[0] = u[1];  // no heat flows through the ends
    if (right == MPI_PROC_NULL) u.back() = u[u.size() - 2];
    const double b = MPI_Wtime();
    for (size_t i = 1; i + 1 < u.size(); ++i)
      next[i] = u[i] + rate * (u[i - 1] - 2 * u[i] + u[i + 1]);
    u.swap(next);
    seconds[0] += b - a;
    seconds[1] += MPI_Wtime() - b;
  }
  double time = MPI_Wtime() - begin, error = 0.0;
  const double half = std::sin(wave / 2);
  const double height = std::pow(1.0 - 4.0 * rate * half * half, static_cast<double>(steps));
  for (long i = 0; i < own; ++i)
    error = std::max(error, std::abs(u[static_cast<size_t>(i + 1)] - height * cosine(first + i)));

  double least[2], sum[2], most[2];
  MPI_Reduce(seconds, least, 2, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(seconds, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(seconds, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(rank ? &time : MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(rank ? &error : MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("heat1d 1.0: %ld points on %d ranks\n", points, ranks);
    std::printf("time of %ld steps: %.9f s\n", steps, time);
    const char* names[2] = {"exchange", "compute"};
    for (int i = 0; i < 2; ++i)
      std::printf("  %s: %.9f %.9f %.9f s\n", names[i], least[i], sum[i] / ranks, most[i]);
    std::printf("largest error: %.3e\ndone\n", error);
  }
  MPI_Finalize();
  return 0;
}

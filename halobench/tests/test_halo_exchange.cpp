// SPDX-License-Identifier: BSD-3-Clause
// Halos in every mode, on lines and grids of ranks, below and above eager limits.
#include <algorithm>
#include <vector>

#include "expect.hpp"
#include "mpi/halo_exchange.hpp"
#include "mpi/rank_grid.hpp"

using namespace halobench;

namespace {

/// What `rank` sends to a side (0 and 1: up and down the first axis ...) in a round.
double value(int rank, int side, int round) { return 100.0 * rank + 10.0 * side + round; }

/// Four sides with their buffers; side 2 a is the low one of axis a, 2 a + 1 the high one.
struct Sides {
  Sides(const RankGrid& grid, int here, std::size_t size)
      : ranks{grid.neighbour(here, 0, -1), grid.neighbour(here, 0, 1), grid.neighbour(here, 1, -1),
              grid.neighbour(here, 1, 1)} {
    for (const int rank : ranks) {
      const std::size_t count = rank == MPI_PROC_NULL ? 0 : size;
      send.emplace_back(count);
      receive.emplace_back(count);
    }
  }

  Neighbour neighbour(std::size_t side) { return {ranks[side], send[side], receive[side]}; }

  std::vector<int> ranks;
  std::vector<std::vector<double>> send;
  std::vector<std::vector<double>> receive;
};

void halos_arrive(const Communicator& comm, ExchangeMode mode, int dimensions, std::size_t size) {
  const RankGrid grid(most_even(comm.size(), dimensions));
  Sides sides(grid, comm.rank(), size);
  const auto [row, col, only] = grid.coordinates(comm.rank());
  HaloExchange exchange(comm, mode,
                        {{static_cast<int>(row), sides.neighbour(0), sides.neighbour(1)},
                         {static_cast<int>(col), sides.neighbour(2), sides.neighbour(3)}});
  expect::equal(exchange.messages(),
                std::ranges::count_if(sides.ranks, [](int rank) { return rank != MPI_PROC_NULL; }));
  for (int round = 0; round < 3; ++round) {
    for (std::size_t side = 0; side < 4; ++side) {
      std::ranges::fill(sides.send[side], value(comm.rank(), static_cast<int>(side), round));
    }
    exchange.start();
    exchange.finish();
    for (std::size_t side = 0; side < 4; ++side) {
      const double expected = value(sides.ranks[side], static_cast<int>(side ^ 1U), round);
      for (const double found : sides.receive[side]) expect::equal(found, expected);
    }
  }
}

/// Two ranks in a ring are each other's neighbour on both sides.
void a_ring_of_any_length_closes(const Communicator& comm, ExchangeMode mode, std::size_t size) {
  const RankGrid grid({comm.size(), 1, 1}, true);
  const std::vector<int> ranks{grid.neighbour(comm.rank(), 0, -1),
                               grid.neighbour(comm.rank(), 0, 1)};
  std::vector<std::vector<double>> send;
  std::vector<std::vector<double>> receive(2, std::vector<double>(size));
  for (const int side : {0, 1}) send.emplace_back(size, value(comm.rank(), side, 0));
  HaloExchange exchange(
      comm, mode,
      {{comm.rank(), {ranks[0], send[0], receive[0]}, {ranks[1], send[1], receive[1]}}});
  exchange.start();
  exchange.finish();
  for (const std::size_t side : {0, 1}) {
    const double expected = value(ranks[side], static_cast<int>(side ^ 1U), 0);
    for (const double found : receive[side]) expect::equal(found, expected);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  for (const auto& name : exchange_names()) {
    for (const std::size_t size : {1, 100000}) {
      const auto mode = exchange_mode(name);
      for (const int dimensions : {1, 2}) halos_arrive(comm, mode, dimensions, size);
      if (comm.size() == 1 || (mode == ExchangeMode::even_odd && comm.size() % 2 == 1)) continue;
      a_ring_of_any_length_closes(comm, mode, size);
    }
  }
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
// How long a star forest of a million leaves a rank takes to set up; its peer is petsc_sf -test
// setup. usage: sf_setup next|grid|random; prints one JSON line: {"setup": seconds}.
#include <algorithm>
#include <cstdio>
#include <string>

#include "star_forest/host_space.hpp"
#include "star_forest/star_forest.hpp"

using namespace halobench;

namespace {

constexpr std::int64_t leaves_of_a_rank = 1000000;
constexpr std::int64_t side = 1000;  // of the grid with so many points
constexpr int setups = 5;

/// next: all leaves in order, each the next rank's; grid: the same into an array with a halo;
/// random: any root of any rank.
double seconds(const Communicator& comm, const std::string& graph) {
  std::vector<Root> edges;
  std::vector<std::int64_t> leaves;
  std::uint64_t random = 1 + static_cast<std::uint64_t>(comm.rank());
  for (std::int64_t i = 0; i < leaves_of_a_rank; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto any = static_cast<int>((random >> 33) % static_cast<std::uint64_t>(comm.size()));
    const auto index = static_cast<std::int64_t>((random >> 40) % leaves_of_a_rank);
    edges.push_back(graph == "random" ? Root{any, index}
                                      : Root{(comm.rank() + 1) % comm.size(), i});
    if (graph == "grid") leaves.push_back(i % side + 1 + (i / side + 1) * (side + 2));
  }
  Meter meter{Meter::Setting{}};
  Memory memory{false};
  HostSpace space(meter, memory);
  std::vector<double> times;
  for (int i = 0; i < setups; ++i) {
    comm.barrier();
    const double start = MPI_Wtime();
    const StarForest forest(comm, space, leaves_of_a_rank, edges, leaves);
    times.push_back(comm.max(MPI_Wtime() - start));
  }
  std::ranges::sort(times);
  return times[setups / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  const double median = seconds(comm, argc > 1 ? argv[1] : "next");
  if (comm.rank() == 0) std::printf("{\"setup\": %.9g}\n", median);
}

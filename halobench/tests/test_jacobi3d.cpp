// SPDX-License-Identifier: BSD-3-Clause
// Jacobi's sweeps on any number of ranks: values that are the same to the last bit however they are
// computed, and messages and memory as they were foretold.
#include <limits>

#include "kernels/jacobi3d/halo.hpp"
#include "mpi/rank_grid.hpp"
#include "run_case.hpp"

using namespace halobench;
using expect::World;

namespace {

std::string fingerprint(const std::string& record) {
  return expect::part(record, "\"fingerprint\":", "}");
}

/// Every grid of so many ranks, as `topology` takes it.
std::vector<std::string> grids(int ranks) {
  std::vector<std::string> grids;
  for (int x = 1; x <= ranks; ++x) {
    for (int y = 1; x * y <= ranks; ++y) {
      if (ranks % (x * y) == 0) grids.push_back(to_string({x, y, ranks / x / y}));
    }
  }
  return grids;
}

/// The same with one rank, one thread and plain sweeps: the reference needs no other rank.
std::string reference(const World& world, const std::vector<std::string>& arguments) {
  const Communicator alone(MPI_COMM_SELF);
  return fingerprint(
      record(World{world.environment, alone, world.kernel, world.shared}, arguments));
}

void values_are_the_same_to_the_last_bit(const World& world) {
  for (const std::string values : {"double", "float"}) {
    for (const std::string boundary : {"dirichlet", "periodic"}) {
      const std::vector<std::string> mesh{"size=19x8x13", "sweeps=7", "precision=" + values,
                                          "boundary=" + boundary};
      const auto expected = reference(world, mesh);
      for (const std::string variant : {"plain", "streaming", "temporal"}) {
        for (const auto& topology : grids(world.comm.size())) {
          for (const bool deep : {false, true}) {
            auto arguments = mesh;
            arguments.insert(
                arguments.end(),
                {"variant=" + variant, "topology=" + topology, deep ? "depth=2" : "depth=1",
                 deep == (values == "float") ? "overlap=no" : "overlap=yes"});
            const auto found = record(world, arguments, deep ? 3 : 1);
            if (world.comm.rank() == 0) expect::equal(fingerprint(found), expected);
          }
        }
      }
    }
  }
}

/// Rows longer than what is streamed at a time, blocks of rows with a rest, and deep ghosts.
void larger_meshes_too(const World& world) {
  const std::vector<std::string> mesh{"size=14x150x600", "sweeps=6"};
  const auto expected = reference(world, mesh);
  const auto topology = to_string({1, world.comm.size(), 1});
  for (const std::string variant : {"streaming", "temporal"}) {
    auto arguments = mesh;
    arguments.insert(arguments.end(),
                     {"variant=" + variant, "topology=" + topology, "depth=5", "overlap=yes"});
    const auto found = record(world, arguments, 2);
    if (world.comm.rank() == 0) expect::equal(fingerprint(found), expected);
  }
}

/// Sweeps made during an exchange write to the mesh that is being sent, but not to what is sent:
/// not in a later stage either.
void overlapped_sweeps_spare_what_is_sent(const World& world) {
  const std::vector<std::string> mesh{"size=26x27x28", "sweeps=7", "boundary=periodic"};
  const auto expected = reference(world, mesh);
  for (const std::string exchange : {"nonblocking", "derived_types"}) {
    auto arguments = mesh;
    arguments.insert(arguments.end(),
                     {"variant=temporal", "depth=4", "overlap=yes", "exchange=" + exchange});
    const auto found = record(world, arguments, 2);
    if (world.comm.rank() == 0) expect::equal(fingerprint(found), expected);
  }
}

/// Skewed blocks, whose rows are fewer than the mesh's, one after the other and on several threads.
void threads_follow_each_other(const World& world) {
  for (const std::string boundary : {"dirichlet", "periodic"}) {
    const std::vector<std::string> mesh{"size=14x90x600", "sweeps=7", "boundary=" + boundary};
    const auto expected = reference(world, mesh);
    const auto topology = to_string({1, 1, world.comm.size()});
    for (const std::string depth : {"depth=1", "depth=4", "depth=7"}) {
      auto arguments = mesh;
      arguments.insert(arguments.end(), {"variant=temporal", "topology=" + topology, depth});
      const auto found = record(world, arguments, 3);
      if (world.comm.rank() == 0) expect::equal(fingerprint(found), expected);
    }
  }
}

/// Messages above eager limits on a ring, where everybody sends first: nobody may wait for ever.
void blocking_rings_do_not_deadlock(const World& world) {
  const auto topology = to_string({world.comm.size(), 1, 1});
  record(world, {"size=8x120x120", "topology=" + topology, "boundary=periodic", "exchange=blocking",
                 "sweeps=2"});
}

/// Every way to exchange, on every grid: a ring of two ranks has one neighbour on both sides.
void exchanges_give_the_same_values(const World& world) {
  for (const std::string boundary : {"dirichlet", "periodic"}) {
    const std::vector<std::string> mesh{"size=9x8x11", "sweeps=5", "boundary=" + boundary};
    const auto expected = reference(world, mesh);
    for (const auto& exchange : jacobi::face_exchange_names()) {
      for (const auto& topology : grids(world.comm.size())) {
        for (const std::string depth : {"depth=1", "depth=2"}) {
          auto arguments = mesh;
          arguments.insert(arguments.end(),
                           {"exchange=" + exchange, "topology=" + topology, depth});
          const auto found = record(world, arguments);
          if (world.comm.rank() == 0) expect::equal(fingerprint(found), expected);
        }
      }
    }
  }
}

void messages_and_memory_are_told(const World& world) {
  const std::int64_t ranks = world.comm.size();
  const auto topology = to_string({ranks, 1, 1});
  for (const std::string variant : {"plain", "streaming", "temporal"}) {
    for (const std::string exchange : {"persistent", "neighbor", "derived_types"}) {
      const auto found = record(world,
                                {"L=9", "topology=" + topology, "variant=" + variant,
                                 "exchange=" + exchange, "depth=3", "sweeps=8"},
                                2);
      if (world.comm.rank() > 0) continue;
      expect::contains(found, "\"messages\":" + std::to_string(2 * (ranks - 1) * 3) + "}");
      const auto predicted = expect::part(found, "\"predicted_bytes\":", ",").substr(18);
      expect::equal(expect::part(found, "\"allocated_bytes\":", ",").substr(18), predicted);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  const World world{environment, comm, "jacobi3d", {"repetitions=1", "warmup=0"}};
  values_are_the_same_to_the_last_bit(world);
  exchanges_give_the_same_values(world);
  larger_meshes_too(world);
  overlapped_sweeps_spare_what_is_sent(world);
  threads_follow_each_other(world);
  blocking_rings_do_not_deadlock(world);
  messages_and_memory_are_told(world);
  return expect::exit_code();
}

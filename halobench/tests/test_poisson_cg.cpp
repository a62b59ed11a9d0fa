// SPDX-License-Identifier: BSD-3-Clause
// The solver on any number of ranks: published iteration counts, and answers that do not depend on
// how the work is exchanged or shared among threads.
#include <map>

#include "base/usage_error.hpp"
#include "mpi/rank_grid.hpp"
#include "run_case.hpp"

using expect::result;
using expect::World;
using halobench::Communicator;
using halobench::Environment;

namespace {

const std::vector<std::string> variants{"textbook", "fused", "pipelined", "sstep"};

struct Published {
  int n;
  int iterations;
  std::string error;
};

void published_counts_are_met(const World& world) {
  std::vector<Published> published{
      {32, 48, "0.00301277"}, {64, 96, "0.0007781"}, {128, 192, "0.0001976"}};
#ifdef NDEBUG  // the rest is slow where nothing is optimised, or ranks share cores
  if (world.comm.size() == 1) {
    published.push_back({256, 387, "4.9797"});
    published.push_back({512, 783, "1.2494"});
  }
#endif
  for (const auto& variant : variants) {
    for (const auto& [n, iterations, error] : published) {
      const auto found = record(world, {"n=" + std::to_string(n), "variant=" + variant});
      if (world.comm.rank() > 0) continue;
      expect::contains(result(found),
                       "\"iterations\":" + std::to_string(iterations) + ",\"error_max\":" + error);
    }
  }
}

/// What a case finds, its solution and errors included, whatever the exchange and the threads.
void answers_are_the_same_to_the_last_bit(const World& world,
                                          const std::vector<std::string>& arguments) {
  auto sampled = arguments;
  sampled.insert(sampled.end(), {"surface=40", "exchange=nonblocking"});
  const auto first = result(record(world, sampled));
  for (const int threads : {2, 3}) {
    expect::equal(result(record(world, sampled, threads)), first);
  }
  for (const std::string exchange : {"blocking", "even_odd", "sendrecv", "persistent"}) {
    sampled.back() = "exchange=" + exchange;
    expect::equal(result(record(world, sampled)), first);
  }
}

void the_smallest_grids_are_solved(const World& world) {
  for (int n = 1; n <= 5; ++n) {
    for (const std::string decomposition : {"rows", "blocks"}) {
      for (const auto& variant : variants) {
        const std::vector<std::string> arguments{"n=" + std::to_string(n), "variant=" + variant,
                                                 "decomposition=" + decomposition};
        const int ranks = world.comm.size();
        const auto rows = halobench::most_even(ranks, decomposition == "rows" ? 1 : 2)[0];
        const bool deep = variant == "sstep" && ranks > 1;  // a halo of 4 is too deep, or just fits
        if (deep && n >= rows) continue;
        if (n >= rows) {
          record(world, arguments, 2);
        } else {
          expect::throws<halobench::UsageError>([&] { record(world, arguments); },
                                                "fewer rows than ranks");
        }
      }
    }
  }
}

void a_fixed_count_is_kept(const World& world) {
  for (const auto& variant : variants) {
    for (const std::string iterations : {"1", "2", "7", "200"}) {
      const auto found = record(world, {"n=40", "variant=" + variant, "iterations=" + iterations});
      if (world.comm.rank() > 0) continue;
      if (iterations != "200") expect::contains(result(found), "\"iterations\":" + iterations);
    }
  }
}

void a_wrong_answer_says_why(const World& world) {
  const auto reason = [&](const std::vector<std::string>& arguments) {
    return expect::part(record(world, arguments, 1, 1), "\"reason\":", ",\"times_s\"");
  };
  const auto capped = reason({"n=40", "max_iterations=5"});
  const auto rounded = reason({"n=200", "tolerance=1e-15"});
  if (world.comm.rank() > 0) return;
  expect::contains(capped, "not converged after 5 iterations");
  expect::contains(rounded, "above the tolerance 1.000e-15; rounding allows about");
}

void messages_and_memory_are_told(const World& world) {
  const auto size = world.comm.size();
  for (const auto& variant : variants) {
    const auto found = record(world, {"n=64", "variant=" + variant, "iterations=10"}, 2);
    if (world.comm.rank() > 0) continue;
    const std::map<std::string, int> exchanges{
        {"textbook", 10},   // one an iteration
        {"fused", 11},      // and one for r before
        {"pipelined", 12},  // one for r and one for w before
        {"sstep", 6}};      // one every second iteration, and one before
    expect::contains(
        found, "\"messages\":" + std::to_string(2 * (size - 1) * exchanges.at(variant)) + "}");
    expect::contains(found, variant == "textbook"
                                ? "\"predicted_bytes\":131072,"
                                : expect::part(found, "\"allocated_bytes\":", ","));
  }
}

void other_right_sides_take_as_many_iterations(const World& world) {
  for (const std::string rhs : {"random", "point"}) {
    std::string expected;
    for (const auto& variant : variants) {
      const auto found = record(world, {"n=60", "variant=" + variant, "rhs=" + rhs});
      if (world.comm.rank() > 0) continue;
      const auto count = expect::part(result(found), "\"iterations\":", ",\"residual");
      if (expected.empty()) expected = count;
      expect::equal(count, expected);
      expect::contains(count, "\"error_max\":null,\"error_max_bound\":null");
    }
  }
}

void longer_steps_are_as_good(const World& world) {
  for (const std::string s : {"4", "6"}) {
    const auto found = record(world, {"n=128", "variant=sstep", "s=" + s, "decomposition=blocks"});
    if (world.comm.rank() > 0) continue;
    expect::contains(result(found), "\"iterations\":192,\"error_max\":0.000197");
    expect::contains(result(found), "\"error_max_bound\":0.00048");
    expect::contains(result(found), "\"fallback_at\":null");
  }
}

/// Powers up to A^11 are too much for rounding: measured every 16 sweeps, r and p show it. Fused
/// goes on in time for as many iterations as it takes alone; the papers' smooth right-hand side
/// takes most more where a run goes on for too long.
void a_breakdown_costs_no_iterations(const World& world) {
  const auto fused = record(world, {"n=200", "variant=fused"});
  const auto found = record(world, {"n=200", "variant=sstep", "s=6", "reorthogonalise=16"});
  if (world.comm.rank() > 0) return;
  expect::is_true(result(found).find("\"fallback_at\":null") == std::string::npos,
                  "s = 6 breaks down, which must be noticed");
  expect::contains(result(fused), "\"iterations\":301");
  expect::contains(result(found), "\"iterations\":301");
  expect::contains(result(found), "\"error_max\":8.14");
}

void a_halo_that_is_too_deep_is_refused(const World& world) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& why) {
    expect::throws<halobench::UsageError>([&] { record(world, arguments); }, why);
  };
  refused({"variant=sstep", "s=3"}, "not an even number; give an even number");
  if (world.comm.size() == 1) return;
  const auto n = std::to_string(7 * world.comm.size());
  refused({"variant=sstep", "n=" + n, "s=4"}, "the halo of 2 s = 8 points exceeds a rank's");
  refused({"variant=sstep", "n=" + n, "s=4"}, "7 points; use s=2 or fewer ranks");
  record(world, {"variant=sstep", "n=" + n, "s=2"}, 3);
  const auto few = std::to_string(3 * world.comm.size());
  refused({"variant=sstep", "n=" + few}, "use variant=fused or fewer ranks");
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  const World world{environment, comm, "poisson_cg"};
  published_counts_are_met(world);
  for (const auto& variant : variants) {
    for (const std::string decomposition : {"rows", "blocks"}) {
      for (const std::string n : {"33", "50"}) {
        answers_are_the_same_to_the_last_bit(
            world, {"n=" + n, "variant=" + variant, "decomposition=" + decomposition});
      }
    }
  }
  the_smallest_grids_are_solved(world);
  a_fixed_count_is_kept(world);
  a_wrong_answer_says_why(world);
  messages_and_memory_are_told(world);
  other_right_sides_take_as_many_iterations(world);
  longer_steps_are_as_good(world);
  a_breakdown_costs_no_iterations(world);
  a_halo_that_is_too_deep_is_refused(world);
  return expect::exit_code();
}

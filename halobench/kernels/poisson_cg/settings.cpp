// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/poisson_cg/settings.hpp"

#include <algorithm>
#include <optional>

#include "base/simulation.hpp"

namespace halobench::cg {
namespace {

std::vector<Variant> variants(const SstepSetting& setting) {
  return {fused(), textbook(), pipelined(), sstep(setting)};
}

/// Powers of A that are too high for doubles blur directions sooner. So many sweeps leave counts as
/// they are, up to n = 2048 for s = 2 and 4, to 1024 for 6 (docs/bench/sstep.md).
std::int64_t usual_reorthogonalisation(std::int64_t s) { return s == 2 ? 16 : s == 4 ? 4 : 1; }

SstepSetting parse_sstep(const Params& params, ExchangeMode exchange) {
  const auto s = params.integer("s");
  const auto every = params.integer("reorthogonalise");
  return {s, every == 0 ? usual_reorthogonalisation(s) : every, exchange};
}

Cut parse_cut(const Params& params, const Shape& shape, std::int64_t halo) {
  const bool rows = params.choice("decomposition") == "rows";
  return {params.integer("n"), RankGrid(most_even(shape.ranks, rows ? 1 : 2)),
          simulated() ? 1 : shape.threads, halo};
}

/// A halo is at most as deep as the neighbour's own part, and iterations come in pairs.
std::optional<Problem> problem_of_depth(std::int64_t s, const Cut& cut) {
  if (s % 2 != 0) return Problem{"s", std::to_string(s), "not an even number; give an even number"};
  const auto smallest = cut.place(static_cast<int>(cut.ranks.ranks()) - 1);
  std::int64_t least = cut.n;
  if (cut.ranks.extent(vertical) > 1) least = std::min(least, smallest.rows.size());
  if (cut.ranks.extent(horizontal) > 1) least = std::min(least, smallest.cols.size());
  if (cut.halo <= least || cut.ranks.ranks() == 1) return {};
  const std::int64_t largest = least / 4 * 2;
  return Problem{"s", std::to_string(s),
                 "the halo of 2 s = " + std::to_string(cut.halo) +
                     " points exceeds a rank's part of " + std::to_string(least) + " points; " +
                     (largest == 0 ? "use variant=fused or fewer ranks"
                                   : "use s=" + std::to_string(largest) + " or fewer ranks")};
}

/// Bytes of the five vectors in a device's memory, with a layer of ghosts around each, and so of
/// what passes through the host's memory, over all ranks.
double bytes_on_device(const Cut& cut) {
  double values = 0;
  for (int rank = 0; rank < cut.ranks.ranks(); ++rank) {
    const auto place = cut.place(rank);
    values += 5.0 * static_cast<double>((place.rows.size() + 2) * (place.cols.size() + 2));
  }
  return sizeof(double) * values;
}

}  // namespace

Settings parse_settings(const Params& params, const Shape& shape) {
  const auto exchange = params.chosen<ExchangeMode>("exchange");
  const auto sstep = parse_sstep(params, exchange);
  const auto variant = variants(sstep)[params.chosen<std::size_t>("variant")];
  const auto cut = parse_cut(params, shape, variant.halo);
  auto limits = parse_limits(params, cut.n);
  limits.period = variant.period;
  return {variant,
          sstep,
          cut,
          limits,
          exchange,
          params.chosen<RightSide>("rhs"),
          parse_memory(params),
          params.integer("surface")};
}

Plan plan(const Params& params, const Shape& shape) {
  Plan planned;
  const auto settings = parse_settings(params, shape);
  const auto& cut = settings.cut;
  if (cut.ranks.extent(vertical) > cut.n) {
    planned.problems.push_back({"n", std::to_string(cut.n),
                                "fewer rows than ranks along the columns of the grid (" +
                                    std::to_string(cut.ranks.extent(vertical)) +
                                    "); use fewer ranks or a larger n"});
    return planned;
  }
  planned.absent = exchange_missing(settings.exchange);
  const auto& variant = settings.variant.name;
  if (variant == "sstep") {
    if (const auto problem = problem_of_depth(settings.sstep.s, cut)) {
      planned.problems.push_back(*problem);
    }
    planned.choices["reorthogonalise"] = std::to_string(settings.sstep.every);
  }
  plan_memory(settings.memory, planned);
  if (settings.memory.on_device && settings.exchange != ExchangeMode::nonblocking) {
    planned.problems.push_back(
        {"exchange", params.choice("exchange"),
         "device memory supports only nonblocking; give nonblocking, or memory=host"});
  }
  if (settings.memory.on_device && variant != "textbook") {
    planned.problems.push_back(
        {"variant", variant,
         "device memory supports only textbook; give variant=textbook, or memory=host"});
  }
  planned.memory_bytes = settings.variant.memory_bytes(cut);
  if (settings.memory.on_device) planned.device_bytes = bytes_on_device(cut);
  planned.memory_bytes += planned.device_bytes;
  return planned;
}

std::vector<Parameter> parameters() {
  using enum Parameter::Type;
  std::vector<Parameter> all = {
      {"n", integer, "1024", "interior mesh points per direction", "", 1, 1 << 24},
      Parameter::one_of(
          "variant", "fused",
          "variant of the conjugate gradient method. fused: one pass over memory per iteration; "
          "textbook: one pass per vector operation; pipelined: one reduction per iteration, "
          "overlapped with the matrix product; sstep: one pass and one reduction per s iterations",
          variants({})),
      Parameter::one_of(
          "exchange", "nonblocking",
          "MPI calls for the halo exchange; neighbor: one MPI_Neighbor_alltoallw call",
          exchange_names()),
      Parameter::one_of(
          "decomposition", "rows",
          "how the mesh is divided among ranks. rows: into groups of whole rows; blocks: into "
          "two-dimensional blocks",
          {"rows", "blocks"}),
      Parameter::one_of(
          "rhs", "paper",
          "right-hand side. paper: as in the papers; random: random numbers; point: 1 at one "
          "point, 0 elsewhere",
          {"paper", "random", "point"}),
      {"s", integer, "2",
       "with variant=sstep, number of iterations per pass over memory; must be even", "", 2, 6},
      {"reorthogonalise", integer, "0",
       "with variant=sstep, number of passes over memory from one reorthogonalisation to the next; "
       "0: 16 with s=2, 4 with s=4, and 1 with s=6",
       "", 0, 16},
      {"iterations", integer, "0",
       "fixed number of iterations; 0: iterate until the tolerance is reached", "", 0, 1e9},
      {"tolerance", real, "1e-6",
       "residual norm at which the solve has converged, relative to the initial residual norm", "",
       1e-16, 1e-2},
      {"max_iterations", integer, "0",
       "maximum number of iterations, after which the solve fails; 0: 10 n + 100", "", 0, 1e9},
      {"surface", integer, "0",
       "number of points per side at which to record the solution and its error; 0: none", "", 0,
       65},
  };
  for (auto& one : memory_parameters(false)) all.push_back(std::move(one));
  return all;
}

}  // namespace halobench::cg

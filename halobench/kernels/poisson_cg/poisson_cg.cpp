// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation on the unit square by the conjugate gradient method: the classical test
// problem of the HPCF reports.
#include "kernels/poisson_cg/poisson_cg.hpp"

#include <algorithm>
#include <optional>

#include "kernel.hpp"
#include "kernels/memory/memory.hpp"
#include "kernels/poisson_cg/answer.hpp"
#include "kernels/poisson_cg/domain.hpp"
#include "kernels/poisson_cg/on_device.hpp"
#include "kernels/poisson_cg/solver.hpp"

namespace halobench {
namespace {

using namespace cg;

std::vector<Variant> variants(const SstepSetting& setting) {
  return {fused(), textbook(), pipelined(), sstep(setting)};
}

std::vector<std::string> variant_names() {
  std::vector<std::string> names;
  for (const auto& variant : variants({})) names.push_back(variant.name);
  return names;
}

/// Powers of A that are too high for doubles blur directions sooner. So many sweeps leave counts as
/// they are, up to n = 2048 for s = 2 and 4, to 1024 for 6 (docs/bench/sstep.md).
std::int64_t usual_reorthogonalisation(std::int64_t s) { return s == 2 ? 16 : s == 4 ? 4 : 1; }

SstepSetting sstep_setting(const Params& params) {
  const auto s = params.integer("s");
  const auto asked = params.integer("reorthogonalise");
  return {s, asked == 0 ? usual_reorthogonalisation(s) : asked,
          exchange_mode(params.choice("exchange"))};
}

Variant chosen_variant(const Params& params) {
  const auto all = variants(sstep_setting(params));
  return *std::ranges::find(all, params.choice("variant"), &Variant::name);
}

Cut chosen_cut(const Params& params, const Shape& shape) {
  const auto ranks = shape.ranks;
  const bool rows = params.choice("decomposition") == "rows";
  return {params.integer("n"), RankGrid(most_even(ranks, rows ? 1 : 2)),
          simulated() ? 1 : shape.threads, chosen_variant(params).halo};
}

Limits chosen_limits(const Params& params, bool observing) {
  const std::int64_t n = params.integer("n");
  Limits limits;
  limits.iterations = params.integer("iterations");
  limits.tolerance = params.real("tolerance");
  limits.most = params.integer("max_iterations");
  if (limits.most == 0) limits.most = 10 * n + 100;
  limits.patience = 5 * n + 100;  // the residual of a smooth right-hand side grows at first
  limits.observing = observing;
  limits.period = chosen_variant(params).period;
  return limits;
}

/// A halo can't be deeper than the neighbour's own part; and iterations come in pairs.
std::optional<Problem> problem_of_depth(const Params& params, const Cut& cut) {
  if (params.choice("variant") != "sstep") return {};
  const std::int64_t s = params.integer("s");
  if (s % 2 != 0) return Problem{"s", std::to_string(s), "not an even number; give an even number"};
  const auto smallest = cut.place(static_cast<int>(cut.ranks.ranks()) - 1);
  std::int64_t least = cut.n;
  if (cut.ranks.extent(cg::vertical) > 1) least = std::min(least, smallest.rows.size());
  if (cut.ranks.extent(cg::horizontal) > 1) least = std::min(least, smallest.cols.size());
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

Plan plan(const Params& params, const Shape& shape) {
  Plan planned;
  const auto cut = chosen_cut(params, shape);
  if (cut.ranks.extent(cg::vertical) > cut.n) {
    planned.problems.push_back({"n", std::to_string(cut.n),
                                "fewer rows than ranks along the columns of the grid (" +
                                    std::to_string(cut.ranks.extent(cg::vertical)) +
                                    "); use fewer ranks or a larger n"});
    return planned;
  }
  planned.absent = exchange_missing(exchange_mode(params.choice("exchange")));
  if (const auto problem = problem_of_depth(params, cut)) planned.problems.push_back(*problem);
  plan_memory(params, planned);
  const bool on_device = is_on_device(params);
  if (on_device && params.choice("exchange") != "nonblocking") {
    planned.problems.push_back(
        {"exchange", params.choice("exchange"),
         "device memory supports only nonblocking; give nonblocking, or memory=host"});
  }
  if (on_device && params.choice("variant") != "textbook") {
    planned.problems.push_back(
        {"variant", params.choice("variant"),
         "device memory supports only textbook; give variant=textbook, or memory=host"});
  }
  if (params.choice("variant") == "sstep") {
    planned.choices["reorthogonalise"] = std::to_string(sstep_setting(params).every);
  }
  planned.memory_bytes = chosen_variant(params).memory_bytes(cut);
  if (on_device) planned.device_bytes = bytes_on_device(cut);
  planned.memory_bytes += planned.device_bytes;
  return planned;
}

class PoissonCg : public Instance {
 public:
  PoissonCg(const Context& context, const SpaceMaker& make_space)
      : context_(context),
        n_(context.params.integer("n")),
        variant_(chosen_variant(context.params)),
        limits_(chosen_limits(context.params, context.meter.executes())),
        domain_(context, chosen_cut(context.params, {context.comm.size(), context.meter.threads()}),
                variant_.vectors, exchange_mode(context.params.choice("exchange"))),
        solver_(is_on_device(context.params) ? textbook_on_device(context, domain_, make_space)
                                             : variant_.make(context, domain_)),
        progress_(limits_) {
    if (limits_.observing) {
      problem_.emplace(n_, right_side_named(context.params.choice("rhs")));
    } else if (limits_.iterations == 0) {
      throw UsageError(
          "iterations=0: convergence needs the computed solution; give a number of iterations, or "
          "--execute");
    }
  }

  void prepare() override {
    if (!limits_.observing) return;
    domain_.start_from_zero(*problem_);
    solver_->take_start();
  }

  void step() override {
    progress_ = Progress(limits_, context_);
    solver_->solve(progress_);
  }

  Verdict verify() override {
    if (!limits_.observing) return {};
    solver_->give_solution();
    answer_ = examine(context_.comm, domain_, *problem_);
    return {fault(answer_, progress_, limits_, *problem_)};
  }

  Work work() const override { return solver_->work(progress_.iterations()); }

  std::string device() const override { return solver_->device(); }

  Json result(std::span<const Times> /*times*/) override {
    const bool known = limits_.observing;
    const bool exact = known && problem_->has_exact();
    const bool converged = limits_.iterations == 0;
    const Bounds most = bounds_of_converged(limits_, *problem_);
    const auto bound = [&](bool is, double value) {
      return is && converged ? Json(value) : Json();
    };
    Json out = Json::object();
    out.set("iterations", progress_.iterations())
        .set("error_max", exact ? Json(answer_.error_max) : Json())
        .set("error_max_bound", bound(exact, most.error_max))
        .set("residual_relative", known ? Json(answer_.residual_relative) : Json())
        .set("residual_relative_bound", bound(known, most.residual_relative))
        .set("bytes_per_point_iteration",
             variant_.bytes_per_point_iteration -
                 (is_on_device(context_.params) ? not_fetched_bytes : 0))
        .set("points", n_ * n_)
        .set("fallback_at", solver_->fallback_at() ? Json(*solver_->fallback_at()) : Json())
        .set("iterations_passed_over", progress_.passed_over());
    const std::int64_t samples = context_.params.integer("surface");
    if (known && samples > 0) {
      out.set("surface", surface(context_.comm, domain_, *problem_, samples));
    }
    return out;
  }

 private:
  const Context context_;
  const std::int64_t n_;
  const Variant variant_;
  const Limits limits_;
  std::optional<Poisson> problem_;  // where its values are looked at: its tables are as long as n
  Domain domain_;
  std::unique_ptr<Solver> solver_;
  Progress progress_;
  Answer answer_;
};

std::vector<Parameter> parameters() {
  using enum Parameter::Type;
  std::vector<Parameter> all = {
      {"n", integer, "1024", "interior mesh points per direction", "", 1, 1 << 24},
      Parameter::one_of("variant", "fused",
                        "fused: one pass over memory per iteration; textbook: one pass per vector "
                        "operation; pipelined: one reduction per iteration, overlapped with the "
                        "product; sstep: one pass and one reduction per s iterations",
                        variant_names()),
      Parameter::one_of("exchange", "nonblocking",
                        "halo exchange between ranks; neighbor: one MPI_Neighbor_alltoallw",
                        exchange_names()),
      Parameter::one_of("decomposition", "rows",
                        "part of the mesh per rank: whole rows, or a two-dimensional block",
                        {"rows", "blocks"}),
      Parameter::one_of("rhs", "paper",
                        "right-hand side: that of the papers, random numbers, or 1 at one point",
                        right_side_names()),
      {"s", integer, "2", "sstep: iterations per sweep, an even number", "", 2, 6},
      {"reorthogonalise", integer, "0",
       "sstep: sweeps between reorthogonalisations; 0: 16 with s=2, 4 with s=4, 1 with s=6", "", 0,
       16},
      {"iterations", integer, "0", "fixed number of iterations; 0: iterate to the tolerance", "", 0,
       1e9},
      {"tolerance", real, "1e-6", "largest residual norm, relative to the initial one", "", 1e-16,
       1e-2},
      {"max_iterations", integer, "0",
       "maximum number of iterations before the solve fails; 0: 10 n + 100", "", 0, 1e9},
      {"surface", integer, "0",
       "number of samples per side to record of the solution and its error; 0: none", "", 0, 65},
  };
  for (auto& one : memory_parameters(false)) all.push_back(std::move(one));
  return all;
}

std::vector<Result> results() {
  using enum Result::Type;
  const std::string executed = "null if simulated without computing the solution";
  return {
      {"iterations", integer, "iterations of the solve"},
      {"error_max", real, "largest difference from the exact solution", "",
       executed + ", or without a known exact solution"},
      {"error_max_bound", real, "largest accepted value", "",
       "null if error_max is null, or with fixed iterations", 0, 3},  // the coarsest mesh
      {"residual_relative", real, "norm of the true residual, relative to the right-hand side", "",
       executed},
      {"residual_relative_bound", real, "largest accepted value", "",
       "null if residual_relative is null, or with fixed iterations", 0, 0.02},
      {"bytes_per_point_iteration", real, "memory traffic of the algorithm per point and iteration",
       "B", "", 0, 1000},
      {"points", integer, "interior mesh points", "", "", 1},
      {"fallback_at", integer, "iteration at which the solver switched to the textbook method", "",
       "null without a switch"},
      {"iterations_passed_over", integer, "iterations that the simulation extrapolated"},
      {"surface", surface, "samples of the solution and its error", "", "absent unless requested"},
  };
}

}  // namespace

Kernel poisson_cg() { return poisson_cg_in({}); }

Kernel poisson_cg_in(const SpaceMaker& make_space) {
  Kernel kernel;
  kernel.name = "poisson_cg";
  kernel.summary = "Poisson's equation in two dimensions with conjugate gradients, matrix-free";
  kernel.paper = "hpcf-2018-10, sections 2 and 3";
  kernel.parameters = parameters();
  kernel.results = results();
  kernel.small = {{"n=20", "memory=host", "mpi=gpu_aware", "sync=default_stream", "device_lag=none",
                   "gpus_shared=1"}};
  for (const std::string cut : {"rows", "blocks"}) {
    const CaseArguments small{"n=20", "variant=textbook", "exchange=nonblocking", "rhs=paper",
                              "decomposition=" + cut};
    const auto all = small_in_memories(small, small, false);
    kernel.small.insert(kernel.small.end(), all.begin() + 1, all.end());  // the first is the host's
  }
  kernel.plan = plan;
  kernel.setup = [make_space](const Context& context) {
    return std::make_unique<PoissonCg>(context, make_space);
  };
  return kernel;
}

}  // namespace halobench

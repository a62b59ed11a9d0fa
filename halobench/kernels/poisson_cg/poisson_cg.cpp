// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation on the unit square by the conjugate gradient method: the classical test
// problem of the HPCF reports.
#include "kernels/poisson_cg/poisson_cg.hpp"

#include <optional>

#include "kernel.hpp"
#include "kernels/memory/memory.hpp"
#include "kernels/poisson_cg/answer.hpp"
#include "kernels/poisson_cg/on_device.hpp"
#include "kernels/poisson_cg/settings.hpp"

namespace halobench {
namespace {

using namespace cg;

Limits observed(Limits limits, bool observing) {
  limits.observing = observing;
  return limits;
}

class PoissonCg : public Instance {
 public:
  PoissonCg(const Context& context, const SpaceMaker& make_space)
      : context_(context),
        settings_(parse_settings(context.params, {context.comm.size(), context.meter.threads()})),
        limits_(observed(settings_.limits, context.meter.executes())),
        domain_(context, settings_.cut, settings_.variant.vectors, settings_.exchange),
        solver_(settings_.memory.on_device
                    ? textbook_on_device(context, settings_.memory, domain_, make_space)
                    : settings_.variant.make(context, domain_)),
        progress_(limits_) {
    if (limits_.observing) {
      problem_.emplace(settings_.cut.n, settings_.right_side);
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
        .set("bytes_per_point_iteration", settings_.variant.bytes_per_point_iteration -
                                              (settings_.memory.on_device ? not_fetched_bytes : 0))
        .set("points", settings_.cut.n * settings_.cut.n)
        .set("fallback_at", solver_->fallback_at() ? Json(*solver_->fallback_at()) : Json())
        .set("iterations_passed_over", progress_.passed_over());
    if (known && settings_.samples > 0) {
      out.set("surface", surface(context_.comm, domain_, *problem_, settings_.samples));
    }
    return out;
  }

 private:
  const Context context_;
  const Settings settings_;
  const Limits limits_;
  std::optional<Poisson> problem_;  // where its values are looked at: its tables are as long as n
  Domain domain_;
  std::unique_ptr<Solver> solver_;
  Progress progress_;
  Answer answer_;
};

std::vector<Result> results() {
  using enum Result::Type;
  const std::string executed = "null if simulated without computing the solution";
  return {
      {"iterations", integer, "number of iterations of the solve"},
      {"error_max", real, "largest difference from the exact solution", "",
       executed + ", or without a known exact solution"},
      {"error_max_bound", real, "largest accepted value", "",
       "null if error_max is null, or with fixed iterations", 0, 3},  // the coarsest mesh
      {"residual_relative", real,
       "norm of the true residual, relative to that of the right-hand side", "", executed},
      {"residual_relative_bound", real, "largest accepted value", "",
       "null if residual_relative is null, or with fixed iterations", 0, 0.02},
      {"bytes_per_point_iteration", real, "memory traffic of the algorithm per point and iteration",
       "B", "", 0, 1000},
      {"points", integer, "interior mesh points", "", "", 1},
      {"fallback_at", integer, "iteration at which the solver switched to the textbook method", "",
       "null without a switch"},
      {"iterations_passed_over", integer,
       "number of iterations that were extrapolated instead of simulated"},
      {"surface", surface, "samples of the solution and its error", "", "absent unless requested"},
  };
}

}  // namespace

Kernel poisson_cg() { return poisson_cg_in({}); }

Kernel poisson_cg_in(const SpaceMaker& make_space) {
  Kernel kernel;
  kernel.name = "poisson_cg";
  kernel.summary = "Matrix-free conjugate gradient solver for the 2-D Poisson equation";
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

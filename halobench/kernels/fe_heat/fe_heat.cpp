// SPDX-License-Identifier: BSD-3-Clause
// Steady heat conduction in the unit cube by linear 8-node hexahedra and the conjugate gradient
// method: the problem of the finite-element mini-application miniFE, which the task-mapping paper
// runs (T = 1 on the face at x = 1, its edges included, 0 on the others).
#include <cmath>
#include <limits>
#include <optional>

#include "kernel.hpp"
#include "kernels/fe_heat/answer.hpp"
#include "kernels/fe_heat/bisection.hpp"
#include "kernels/fe_heat/operator.hpp"
#include "kernels/fe_heat/solver.hpp"

namespace halobench {
namespace heat {
namespace {

constexpr std::int64_t most_places = std::numeric_limits<std::int32_t>::max();

/// The parameters of a case.
struct Settings {
  Extents elements;
  std::string operator_name;
  cg::Limits limits;
};

/// Nothing where so many ranks can't share such a mesh, which is appended to `problems`.
std::optional<Settings> parse_settings(const Params& params, std::int64_t ranks,
                                       std::vector<Problem>& problems) {
  const auto& text = params.text("size");
  const auto refuse = [&](const std::string& why) {
    problems.push_back({"size", text, why});
    return std::nullopt;
  };
  const auto size = parse_extents(text);
  if (!size) return refuse("give elements along x, y, and z, such as 100x100x100");
  const auto [nx, ny, nz] = *size;
  if (std::min({nx, ny, nz}) < 2) {
    return refuse("the cube has no interior nodes; give at least 2 elements along each axis");
  }
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const auto longest = std::max({nx, ny, nz});
  if (longest == most || !halobench::volume({nx + 1, ny + 1, nz + 1})) {
    return refuse("the mesh would have more than 2^63 - 1 nodes");
  }
  if (const auto elements = nx * ny * nz; ranks > elements) {
    return refuse("fewer elements (" + std::to_string(elements) + ") than ranks (" +
                  std::to_string(ranks) + "); use fewer ranks or a larger size");
  }
  return Settings{*size, params.choice("operator"),
                  cg::parse_limits(params, std::min(longest, most / 16))};  // it multiplies
}

class FeHeat : public Instance {
 public:
  FeHeat(const Context& context, const Settings& settings)
      : comm_(context.comm),
        context_(context),
        elements_(settings.elements),
        limits_(settings.limits),
        solver_(context, Bisection(elements_, context.comm.size()), settings.operator_name),
        progress_(limits_) {
    if (!limits_.observing && limits_.iterations == 0) {
      throw UsageError(
          "iterations=0: convergence needs the computed solution; give a number of iterations, or "
          "--execute");
    }
    context.meter.count(false);
    if (limits_.observing) {
      prepare();
      solver_.assemble();
      asymmetry_ = asymmetry(comm_, solver_);
    }
    context.meter.count(true);
  }

  void prepare() override {
    if (limits_.observing) solver_.forget();
  }

  void step() override {
    progress_ = cg::Progress(limits_, context_);
    solver_.assemble();
    solver_.solve(progress_);
  }

  Verdict verify() override {
    if (!limits_.observing) return {};
    answer_ = examine(comm_, solver_);
    if (!asymmetry_.empty()) return {asymmetry_};
    return {fault(answer_, progress_, limits_, elements_)};
  }

  Work work() const override { return solver_.work(progress_.iterations()); }

  Json result(std::span<const Times> /*times*/) override {
    const bool known = limits_.observing;
    const bool converged = known && limits_.iterations == 0;
    const Bounds most = bounds_of_converged(elements_, limits_.tolerance);
    const auto& part = solver_.part();
    const auto rows = comm_.sum(part.rows());
    const auto mean_box = static_cast<double>(comm_.sum(part.box())) / comm_.size();
    const auto nonzeros = comm_.sum(solver_.matrix().nonzeros());
    return Json::object()
        .set("iterations", progress_.iterations())
        .set("mean", known ? Json(answer_.mean) : Json())
        .set("error_max", known ? Json(answer_.error_max) : Json())
        .set("error_max_bound", converged ? Json(most.error_max) : Json())
        .set("residual_relative", known ? Json(answer_.residual_relative) : Json())
        .set("residual_relative_bound", converged ? Json(most.residual_relative) : Json())
        .set("rows", rows)
        .set("nonzeros", solver_.matrix().stores() ? Json(nonzeros) : Json())
        .set("imbalance", comm_.max(static_cast<double>(part.box())) / mean_box)
        .set("ghosts", comm_.sum(part.ghosts()))
        .set("bytes_per_row_iteration",
             comm_.sum(solver_.bytes_per_iteration()) / static_cast<double>(rows))
        .set("iterations_passed_over", progress_.passed_over());
  }

 private:
  const Communicator& comm_;
  const Context context_;
  const Extents elements_;
  const cg::Limits limits_;
  Solver solver_;
  cg::Progress progress_;
  std::string asymmetry_;  ///< of the matrix; empty if it is symmetric
  Answer answer_;
};

/// Memory of all ranks, in bytes; and a problem where a rank has too much for 32-bit indices.
double plan_memory(const Bisection& mesh, const std::string& operator_name,
                   std::vector<Problem>& problems) {
  double bytes = 0;
  std::int64_t most = 0;
  for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    const Part part(mesh, rank);
    most = std::max(most, part.places().count());
    const auto values = 3 * part.places().count() + part.buffered();
    bytes += operator_memory(operator_name, part) + 8 * static_cast<double>(values);
  }
  if (most > most_places) {
    problems.push_back({"size", to_string(mesh.elements()),
                        std::to_string(most) + " values of a vector on a rank, with ghosts and "
                                               "padding: the limit of local indices is "
                                               "2^31 - 1; use more ranks or a smaller size"});
  }
  return bytes;
}

Plan plan(const Params& params, const Shape& shape) {
  Plan planned;
  const auto settings = parse_settings(params, shape.ranks, planned.problems);
  if (!settings) return planned;
  planned.memory_bytes = plan_memory(Bisection(settings->elements, shape.ranks),
                                     settings->operator_name, planned.problems);
  return planned;
}

std::vector<Parameter> parameters() {
  using enum Parameter::Type;
  return {
      {"size", text, "64x64x64", "number of elements of the unit cube along x, y, and z"},
      Parameter::one_of(
          "operator", "csr",
          "representation of the operator. csr: assembled matrix in compressed sparse row format; "
          "matrix_free: no matrix, 27 weights per node",
          {"csr", "matrix_free"}),
      {"iterations", integer, "0",
       "fixed number of iterations; 0: iterate until the tolerance is reached", "", 0, 1e9},
      {"tolerance", real, "1e-8",
       "residual norm at which the solve has converged, relative to the initial residual norm", "",
       1e-16, 1e-2},
      {"max_iterations", integer, "0",
       "maximum number of iterations, after which the solve fails; 0: 10 per element along the "
       "longest axis, plus 100",
       "", 0, 1e9},
  };
}

std::vector<Result> results() {
  using enum Result::Type;
  const std::string executed = "null if simulated without computing the solution";
  return {
      {"iterations", integer, "number of iterations of the solve"},
      {"mean", real, "mean temperature over all nodes, including those on faces", "", executed, 0,
       1},
      {"error_max", real,
       "largest difference from the series solution at nodes with x <= 1/2, away from edges with a "
       "temperature jump",
       "", executed},
      {"error_max_bound", real, "largest accepted value", "",
       "null if error_max is null, or with fixed iterations", 0, 1},
      {"residual_relative", real,
       "norm of the true residual, relative to that of the right-hand side", "", executed},
      {"residual_relative_bound", real, "largest accepted value", "",
       "null if residual_relative is null, or with fixed iterations", 0, 0.02},
      {"rows", integer, "number of rows of the matrix (interior nodes)", "", "", 1},
      {"nonzeros", integer, "number of nonzeros of the assembled matrix", "",
       "null with operator=matrix_free", 1},
      {"imbalance", real, "maximum number of elements per rank, divided by the mean", "", "", 1},
      {"ghosts", integer,
       "number of values needed from other ranks per iteration, summed over ranks"},
      {"bytes_per_row_iteration", real, "memory traffic of the algorithm per row and iteration",
       "B", "", 0, 1000},
      {"iterations_passed_over", integer,
       "number of iterations that were extrapolated instead of simulated"},
  };
}

}  // namespace
}  // namespace heat

Kernel fe_heat() {
  Kernel kernel;
  kernel.name = "fe_heat";
  kernel.summary = "Heat conduction in a cube with finite elements and conjugate gradients";
  kernel.paper = "task-mapping-drop, section 4.2";
  kernel.parameters = heat::parameters();
  kernel.results = heat::results();
  kernel.small = {{"size=7x6x5"}, {"size=2x3x4", "iterations=3"}, {"size=2x2x2"}};
  kernel.plan = heat::plan;
  kernel.setup = [](const Context& context) -> std::unique_ptr<Instance> {
    std::vector<Problem> none;  // the plan has already refused bad sizes
    auto settings = heat::parse_settings(context.params, context.comm.size(), none);
    settings->limits.observing = context.meter.executes();
    return std::make_unique<heat::FeHeat>(context, *settings);
  };
  return kernel;
}

}  // namespace halobench

// Poisson's equation on the unit square by the conjugate gradient method: the classical test
// problem of the HPCF reports.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernel.hpp"
#include "kernels/poisson_cg/domain.hpp"
#include "kernels/poisson_cg/solver.hpp"

namespace halobench {
namespace {

using namespace cg;

std::vector<Variant> variants() { return {fused(), textbook()}; }

Variant chosen_variant(const Params& params) {
  const auto all = variants();
  return *std::ranges::find(all, params.choice("variant"), &Variant::name);
}

Cut chosen_cut(const Params& params, const Shape& shape) {
  const auto ranks = static_cast<int>(shape.ranks);
  return {params.integer("n"),
          params.choice("decomposition") == "rows" ? GridShape{ranks, 1} : even_shape(ranks),
          simulated() ? 1 : shape.threads};
}

Limits chosen_limits(const Params& params, bool observing) {
  const std::int64_t n = params.integer("n");
  const std::int64_t most = params.integer("max_iterations");
  const std::int64_t patience = 5 * n + 100;
  return {params.integer("iterations"), params.real("tolerance"), most > 0 ? most : 10 * n + 100,
          patience, observing};
}

/// What verify() finds, over all ranks.
struct Check {
  double error_max = 0;          ///< against the exact solution
  double residual_relative = 0;  ///< computed anew from x
};

class PoissonCg : public Instance {
 public:
  explicit PoissonCg(const Context& context)
      : context_(context),
        params_(context.params),
        problem_(params_.integer("n")),
        variant_(chosen_variant(params_)),
        limits_(chosen_limits(params_, context.meter.executes())),
        domain_(context, chosen_cut(params_, {context.comm.size(), context.meter.threads()}),
                variant_.vectors, exchange_mode(params_.choice("exchange"))),
        solver_(variant_.make(context, domain_)),
        progress_(limits_) {
    if (!limits_.observing && limits_.iterations == 0) {
      throw UsageError("iterations=0: without the arithmetic nothing converges; give a count");
    }
  }

  void prepare() override {
    if (limits_.observing) domain_.start_from_zero(problem_);
  }

  void step() override {
    progress_ = Progress(limits_);
    solver_->solve(progress_);
  }

  Verdict verify() override {
    if (!limits_.observing) return {};
    domain_.refresh(&Strip::x);
    check_ = check();
    if (!progress_.failure().empty()) return {progress_.failure()};
    return {limits_.iterations > 0 ? fixed_count_fault() : converged_fault()};
  }

  Work work() const override { return solver_->work(progress_.iterations()); }

  Json result(std::span<const Times> /*times*/) override {
    Json out = Json::object();
    out.set("iterations", progress_.iterations())
        .set("error_max", limits_.observing ? Json(check_.error_max) : Json())
        .set("residual_relative", limits_.observing ? Json(check_.residual_relative) : Json())
        .set("bytes_per_point_iteration", variant_.bytes_per_point_iteration)
        .set("points", problem_.n() * problem_.n());
    const std::int64_t samples = params_.integer("surface");
    if (samples > 0 && limits_.observing) out.set("surface", surface(samples));
    return out;
  }

 private:
  Check check() const {
    std::vector<std::array<double, 3>> found(domain_.strips().size());
    domain_.each_strip([&](const Strip& strip) {
      found[static_cast<std::size_t>(&strip - domain_.strips().data())] = check_strip(strip);
    });
    std::array<double, 2> squares{};
    double error = 0;
    for (const auto& [largest, residual, right_side] : found) {
      error = std::isnan(largest) ? largest : std::max(error, largest);
      squares[0] += residual;
      squares[1] += right_side;
    }
    context_.comm.sum(squares);
    return {context_.comm.max(error), std::sqrt(squares[0] / squares[1])};
  }

  /// The largest error, the squared norms of the residual and of the right-hand side.
  std::array<double, 3> check_strip(const Strip& strip) const {
    double error = 0;
    double residual = 0;
    double right_side = 0;
    for (std::int64_t i = 0; i < strip.rows(); ++i) {
      const std::int64_t row = strip.place.rows.begin + i;
      const double* x = strip.x.row(i);
      const std::int64_t stride = strip.x.stride;
      for (std::int64_t j = 0; j < strip.cols(); ++j) {
        const std::int64_t col = strip.place.cols.begin + j;
        const double b = problem_.right_side(row, col);
        const double product = 4.0 * x[j] - x[j - stride] - x[j + stride] - x[j - 1] - x[j + 1];
        error = std::max(error, std::abs(x[j] - problem_.exact(row, col)));
        residual += (b - product) * (b - product);
        right_side += b * b;
      }
    }
    return {error, residual, right_side};
  }

  std::string fixed_count_fault() const { return ""; }

  std::string converged_fault() const { return ""; }

  Json surface(std::int64_t samples) const { return Json(samples); }

  const Context context_;
  const Params& params_;
  const Poisson problem_;
  const Variant variant_;
  const Limits limits_;
  Domain domain_;
  std::unique_ptr<Solver> solver_;
  Progress progress_;
  Check check_;
};

Plan plan(const Params& params, const Shape& shape) {
  const auto cut = chosen_cut(params, shape);
  return {cut.memory_bytes(chosen_variant(params).vectors), {}};
}

}  // namespace

Kernel poisson_cg() {
  using enum Parameter::Type;
  Kernel kernel;
  kernel.name = "poisson_cg";
  kernel.summary = "Poisson's equation in two dimensions by the conjugate gradient method";
  kernel.paper = "hpcf-2018-10, sections 2 and 3";
  std::vector<std::string> names;
  for (const auto& variant : variants()) names.push_back(variant.name);
  kernel.parameters = {
      {"n", integer, "1024", "interior mesh points in each direction", "", 1, 1 << 24},
      {"variant",
       choice,
       names.front(),
       "fused: one pass over memory an iteration; textbook: a loop for every vector operation",
       "",
       {},
       {},
       names},
      {"exchange",
       choice,
       "nonblocking",
       "how halos travel between ranks",
       "",
       {},
       {},
       exchange_names()},
      {"decomposition",
       choice,
       "rows",
       "blocks of whole rows, or two-dimensional blocks",
       "",
       {},
       {},
       {"rows", "blocks"}},
      {"iterations", integer, "0", "a fixed count; 0 solves to the tolerance", "", 0, 1e9},
      {"tolerance", real, "1e-6", "of the residual's norm, relative to the first residual's", "",
       1e-16, 1},
      {"max_iterations", integer, "0", "more than these are a failure; 0 allows 10 n + 100", "", 0,
       1e9},
      {"surface", integer, "0",
       "samples of the solution and of its error on a grid of that many points a side, edges "
       "included; 0 for none",
       "", 0, 65},
  };
  kernel.plan = plan;
  kernel.setup = [](const Context& context) { return std::make_unique<PoissonCg>(context); };
  return kernel;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradient method s iterations at a time: one pass over memory and one reduction for
// all of them.
//
// A sweep does s iterations and, with the new r still in cache, the moments (r, A^l r) from which
// the scalars of the next s follow (numerics/sstep_scalars), taking for granted that residuals are
// orthogonal. Rounding makes that less and less true: without more, the method breaks down at
// n = 2048 with s = 2. So every so often all moments of r and the last p are measured, in a pass of
// their own, and nothing is taken for granted (Chronopoulos and Gear, J. Comput. Appl. Math. 25,
// 1989; Carson, "Communication-avoiding Krylov subspace methods", 2015). Halos are 2 s points deep:
// s for the iterations, s for the moments.
//
// x and r keep up with each other whatever the scalars are, and (r, r) is measured, not
// foreseen. So where the scalars are useless, fused continues from there: where a value that
// must be positive isn't, where the residual has shot up, or where a measurement finds r no longer
// orthogonal to p, as it does long before a breakdown.
#include <cmath>

#include "base/as_size.hpp"
#include "kernels/poisson_cg/solver.hpp"
#include "kernels/poisson_cg/sstep/deep_halo.hpp"
#include "kernels/poisson_cg/sstep/sstep_sweep.hpp"
#include "numerics/poisson/sstep_scalars.hpp"

namespace halobench::cg {
namespace {

constexpr double sweep_bytes = 48;    // x, r and p, read and written
constexpr double measure_bytes = 16;  // r and p
constexpr double iteration_flops = 11;
constexpr double raise_flops = 14;
constexpr double raise_both_flops = 22;
/// (r, r) may grow from one sweep to the next, but not by as much as this.
constexpr double too_much_growth = 1e4;

/// (r, p) of the last p relative to (r, r), 0 in exact arithmetic. It grows from 1e-10 on. Runs
/// that continued with fused from here took as many iterations as fused alone; from 1e-3 on, up to
/// half as many again.
constexpr double too_much_overlap = 1e-6;
/// Above that, the last p cannot be used to continue.
constexpr double useless_overlap = 0.1;

double overlap(const Moments& moments) {
  return moments.mixed.empty() ? 0.0 : std::abs(moments.mixed[0] / moments.residual[0]);
}

class Sstep : public Solver {
 public:
  Sstep(const Context& context, Domain& domain, const SstepSetting& setting)
      : context_(context),
        domain_(domain),
        setting_(setting),
        phases_(context.meter),
        measure_(context.meter.phase("measure")),
        rescue_(make_rescue(context, domain, phases_)),
        halos_(context, domain, setting.exchange),
        pairs_(as_size(setting.s / 2)),
        row_sums_(as_size(width() * domain.place().rows.size())) {
    for (const auto& strip : domain.strips()) {
      sweeps_.emplace_back(context.memory, strip, domain.cut().n, setting.s);
    }
  }

  void solve(Progress& progress) override {
    counts_ = {};
    fallback_at_.reset();
    iterate(progress);
    const double passed_over =
        static_cast<double>(progress.passed_over()) / static_cast<double>(setting_.s);
    counts_.sweeps += passed_over;
    counts_.exchanges += passed_over;
    counts_.measures += passed_over / static_cast<double>(setting_.every);
  }
  Work work(std::int64_t iterations) const override {
    const auto points = static_cast<double>(domain_.place().points());
    const auto& [sweeps, measures, exchanges] = counts_;
    Work total{points * (sweeps * sweep_bytes + measures * measure_bytes),
               points * (sweeps * sweep_flops(true) + measures * measure_flops()),
               exchanges * static_cast<double>(halos_.messages())};
    if (fallback_at_) {
      const auto rest = rescue_->work(iterations - *fallback_at_);
      total = {total.bytes + rest.bytes, total.flops + rest.flops, total.messages + rest.messages};
    }
    return total;
  }

  std::optional<std::int64_t> fallback_at() const override { return fallback_at_; }

 private:
  /// What the last solve did.
  struct Counts {
    double sweeps = 0;
    double measures = 0;
    double exchanges = 0;
  };

  void iterate(Progress& progress) {
    SstepScalars scalars(as_size(setting_.s), Poisson::largest_eigenvalue);
    double last_residual = 0;
    for (std::int64_t step = 0;; ++step) {
      exchange();
      const bool all = step % setting_.every == 0;
      const auto moments = all ? measure() : reduce(2 * setting_.s);
      const double residual = moments.residual[0];
      const bool sane = step == 0 || (residual < too_much_growth * last_residual &&
                                      overlap(moments) < too_much_overlap);
      if (!(scalars.find(moments) && sane) && context_.meter.executes()) {
        return fall_back(all ? moments : measure(), progress);
      }
      const auto count = accepted(scalars, progress);
      if (count == 0) return;
      sweep(scalars, count, (step + 1) % setting_.every != 0);
      scalars.done(as_size(count));
      if (count < setting_.s) return settle(progress);
      last_residual = residual;
    }
  }

  std::int64_t width() const { return 6 * setting_.s; }

  /// How many of the computed iterations are done, until convergence or the limit of iterations.
  std::int64_t accepted(const SstepScalars& scalars, Progress& progress) const {
    std::int64_t count = 0;
    while (count < setting_.s && progress.wants_more(scalars.residual(as_size(count)))) {
      ++count;
    }
    return count;
  }

  void sweep(const SstepScalars& scalars, std::int64_t count, bool with_moments) {
    const auto alpha = [&](std::size_t j) {
      return static_cast<std::int64_t>(j) < count ? scalars.alpha(j) : 0.0;
    };
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      pairs_[k] = {alpha(2 * k), scalars.beta(2 * k), alpha(2 * k + 1), scalars.beta(2 * k + 1)};
    }
    ++counts_.sweeps;
    context_.meter.compute(phases_.sweep,
                           traffic(sweep_bytes, sweep_bytes / 2, sweep_flops(with_moments)), [&] {
                             each_sweep([&](const SstepSweep& strip, double* sums) {
                               strip.advance(pairs_, with_moments ? sums : nullptr, width());
                             });
                           });
  }

  Moments measure() {
    ++counts_.measures;
    context_.meter.compute(measure_, traffic(measure_bytes, 0, measure_flops()), [&] {
      each_sweep([&](const SstepSweep& strip, double* sums) { strip.measure(sums, width()); });
    });
    return reduce(width());
  }

  /// Adds up the first `count` numbers of all rows, in order.
  Moments reduce(std::int64_t count) {
    const auto size = as_size(count);
    std::vector<double> total(size);
    for (std::size_t row = 0; row < row_sums_.size(); row += as_size(width())) {
      for (std::size_t k = 0; k < size; ++k) total[k] += row_sums_[row + k];
    }
    context_.meter.communicate(phases_.reduce, [&] { context_.comm.sum(total); });
    const auto part = [&](std::int64_t index) {
      const auto begin = total.begin() + 2 * setting_.s * index;
      return std::vector(begin, begin + 2 * setting_.s);
    };
    if (count == width()) return {part(0), part(1), part(2)};
    SstepSweep::finish(total.data(), setting_.s);
    return {total, {}, {}};
  }

  void exchange() {
    ++counts_.exchanges;
    for (std::size_t pass = 0; pass < DeepHalo::passes; ++pass) {
      auto& messages = halos_.exchange(pass);
      context_.meter.compute(phases_.edges, edge_traffic(), [&] { halos_.pack(pass); });
      context_.meter.communicate(phases_.halo, [&] {
        messages.start();
        messages.finish();
      });
      context_.meter.compute(phases_.edges, edge_traffic(), [&] { halos_.unpack(pass); });
    }
    context_.meter.compute(phases_.edges, {}, [&] { halos_.join(); });
  }

  /// After a sweep whose last iterations were left out: done, unless the scalars were too hopeful.
  void settle(Progress& progress) {
    exchange();
    fall_back(measure(), progress);
  }

  /// Goes on as fused, with a direction that is conjugate to the last one if that can be.
  void fall_back(const Moments& moments, Progress& progress) {
    const double residual = moments.residual[0];
    const bool useful = moments.direction[1] > 0 && overlap(moments) < useless_overlap;
    const double beta = useful ? -moments.mixed[1] / moments.direction[1] : 0.0;
    const double curvature = moments.residual[1] + (useful ? beta * moments.mixed[1] : 0.0);
    const auto before = progress.iterations();
    rescue_->go_on({residual / curvature, beta}, residual, progress);
    if (progress.iterations() > before) fallback_at_ = before;
  }

  template <class Body>
  void each_sweep(const Body& body) {
    domain_.each_strip([&](const Strip& strip) {
      const auto number = &strip - domain_.strips().data();
      body(sweeps_[as_size(number)], row_sums_.data() + width() * domain_.first_row(strip));
    });
  }

  double sweep_flops(bool with_moments) const {
    const auto s = static_cast<double>(setting_.s);
    return iteration_flops * s + (with_moments ? raise_flops * (s - 1) : 0.0);
  }

  double measure_flops() const { return raise_both_flops * static_cast<double>(setting_.s) + 2; }

  /// bytes, written, flops: of a point.
  Traffic traffic(double bytes, double written, double flops) const {
    const auto points = static_cast<double>(domain_.place().points());
    return {bytes * points, flops * points, 3 * sizeof(double) * points, written * points};
  }

  /// Of one pass of the exchange, before or after the messages.
  Traffic edge_traffic() const {
    const double bytes = sizeof(double) * halos_.doubles() / DeepHalo::passes;
    return {bytes, 0, bytes, bytes / 2, 0};
  }

  const Context context_;
  Domain& domain_;
  const SstepSetting setting_;
  FusedPhases phases_;
  Phase& measure_;
  std::unique_ptr<Rescue> rescue_;
  DeepHalo halos_;
  std::vector<SstepSweep> sweeps_;  // one a strip
  std::vector<TwoIterations> pairs_;
  std::vector<double> row_sums_;  // added up in order: the same for any number of threads
  Counts counts_;
  std::optional<std::int64_t> fallback_at_;
};

double memory_bytes(const Cut& cut, std::int64_t s) {
  double doubles = 0;
  for (int rank = 0; rank < cut.ranks.ranks(); ++rank) {
    for (const auto& place : cut.strips(rank)) {
      doubles += static_cast<double>(SstepSweep::memory(place, s));
    }
  }
  return cut.memory_bytes(3) + DeepHalo::memory_bytes(cut) + sizeof(double) * doubles;
}

}  // namespace

Variant sstep(const SstepSetting& setting) {
  const auto s = static_cast<double>(setting.s);
  Variant variant;
  variant.name = "sstep";
  variant.vectors = 3;
  variant.halo = 2 * setting.s;
  variant.period = setting.s * setting.every;
  variant.bytes_per_point_iteration =
      (sweep_bytes + measure_bytes / static_cast<double>(setting.every)) / s;
  variant.memory_bytes = [s = setting.s](const Cut& cut) { return memory_bytes(cut, s); };
  variant.make = [setting](const Context& context, Domain& domain) -> std::unique_ptr<Solver> {
    return std::make_unique<Sstep>(context, domain, setting);
  };
  return variant;
}

}  // namespace halobench::cg

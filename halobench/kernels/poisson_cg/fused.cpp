// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradient method in one pass over memory and one reduction an iteration.
//
// Chronopoulos and Gear's idea (J. Comput. Appl. Math. 25, 1989): with the inner products of the
// new residual, (p, A p) = (r, A r) + beta (r, A p_old) of the next direction p = r + beta p_old is
// known before p itself. So one sweep over the rows makes p, r and all inner products; A p is not
// stored. The solution x is updated every other sweep, on the two directions that are at hand while
// p is renewed. Replacing (r, A p_old) by -(r, r) / alpha, as is often done, saves an inner product
// but costs iterations: 2575 instead of 2234 at n = 1024 for a tolerance of 1e-12.
//
// Sweeps go down and up the rows in turn: a cache that is too small for all vectors still has the
// rows that the last sweep ended with.
//
// The messages carry r; the halo of p follows from it. Where messages can travel during the sweep,
// the new r at the edges is computed ahead of it, sent, and computed again in its turn.
#include <cmath>

#include "base/as_size.hpp"
#include "kernels/poisson_cg/solver.hpp"

namespace halobench::cg {
namespace {

// Bytes a point: r and p are read and written in every sweep, x in every other one.
constexpr double sweep_bytes = 32;
constexpr double solution_bytes = 16;
constexpr double bytes_per_iteration = sweep_bytes + solution_bytes / 2;
// p 2, A p 5, r 2, (r, r) 2, (r, A p) 2, (r, A r) 6, x 2 an iteration
constexpr double flops_per_iteration = 21;

/// Inner products after a sweep.
struct Products {
  double residual = 0;  ///< (r, r)
  double coupling = 0;  ///< (r, A p)
  double energy = 0;    ///< (r, A r)
};

/// The sweep that follows `step`, which led from `old` to `now`.
Step follow(const Step& step, const Products& old, const Products& now) {
  const double beta = now.residual / old.residual;
  const double curvature = now.energy + beta * now.coupling;  // (p, A p)
  return {now.residual / curvature, beta, !step.solution, step.alpha};
}

class Fused : public Rescue {
 public:
  Fused(const Context& context, Domain& domain, const FusedPhases& phases)
      : context_(context),
        domain_(domain),
        phases_(phases),
        row_sums_(as_size(domain.place().rows.size()) + 2) {}

  void solve(Progress& progress) override {
    const Products now = sweep({});  // a step of zero: the inner products of the start
    go_on({now.residual / now.energy}, now.residual, progress);
  }

  void go_on(Step step, double residual, Progress& progress) override {
    Products now{residual};
    while (progress.wants_more(now.residual)) {
      const Products old = now;
      now = sweep(step);
      step = follow(step, old, now);
    }
    if (step.solution) catch_up(step.previous_alpha);
  }

  Work work(std::int64_t iterations) const override {
    const auto points = static_cast<double>(domain_.place().points());
    const auto count = static_cast<double>(iterations);
    const auto solutions = static_cast<double>(iterations / 2);
    const double catching_up = iterations % 2 == 1 ? catch_up_bytes : 0;
    return {points * (sweep_bytes * (count + 1) + solution_bytes * solutions + catching_up),
            points * flops_per_iteration * (count + 1),
            (count + 1) * static_cast<double>(domain_.exchange().messages())};
  }

 private:
  static constexpr double catch_up_bytes = 24;

  Products sweep(const Step& step) {
    auto& exchange = domain_.exchange();
    if (exchange.overlaps()) {
      context_.meter.compute(phases_.edges, edge_traffic(0), [&] { foresee_edges(step); });
      context_.meter.communicate(phases_.halo, [&] { exchange.start(); });
    }
    const double bytes = sweep_bytes + (step.solution ? solution_bytes : 0);
    context_.meter.compute(phases_.sweep, traffic(bytes, bytes / 2, flops_per_iteration),
                           [&] { advance_all(step); });
    if (!exchange.overlaps()) {
      context_.meter.compute(phases_.edges, edge_traffic(0), [&] { domain_.pack(&Strip::r); });
    }
    context_.meter.communicate(phases_.halo, [&] { exchange.finish(); });
    context_.meter.compute(phases_.edges, edge_traffic(2), [&] { close_edges(); });
    upwards_ = !upwards_;
    return reduce();
  }

  void foresee_edges(const Step& step) {
    for (const auto* segments : {&domain_.row_segments(), &domain_.column_segments()}) {
      for (const auto& s : *segments) {
        foresee(*s.strip, s.row, s.col, s.downwards, s.count, step, s.send);
      }
    }
  }

  void advance_all(const Step& step) {
    row_sums_.front() = row_sums_.back() = {};  // one of them has edges of the last sweep
    domain_.each_strip([&](const Strip& placed) {
      const auto strip = in_order(placed);
      advance_direction(strip, -1, step);
      advance_direction(strip, 0, step);
      advance_rows(strip, step, [&](std::int64_t i, const RowSums& sums) {
        row_sums(placed, i) = sums;
        // The edges to a strip that comes before are counted there, when its halo is filled.
        if (i == 0 && !at_boundary(placed)) row_sums(placed, i).edges = 0;
      });
    });
  }

  /// Fills the halos of r and counts the edges that lead there.
  void close_edges() {
    domain_.unpack_rows(&Strip::r);
    domain_.join(&Strip::r);
    domain_.each_strip([&](const Strip& strip) {
      row_sums(strip, strip.rows()).edges = advance(in_order(strip), strip.rows(), {}).edges;
    });
    domain_.unpack_columns(&Strip::r);
    for (const auto& s : domain_.column_segments()) {
      if (s.outwards > 0) close_column(s);
    }
  }

  void close_column(const Segment& segment) {
    for (std::int64_t k = 0; k < segment.count; ++k) {
      const double* edge = segment.strip->r.row(k) + segment.col;
      const double right = edge[1] - edge[0];
      row_sums_[as_size(1 + domain_.first_row(*segment.strip) + k)].edges += right * right;
    }
  }

  Products reduce() {
    Products products;
    for (const auto& sums : row_sums_) {
      products.residual += sums.residual;
      products.coupling += sums.coupling;
      products.energy += sums.edges;
    }
    context_.meter.communicate(phases_.reduce, [&] {
      std::array values{products.residual, products.coupling, products.energy};
      context_.comm.sum(values);
      products = {values[0], values[1], values[2]};
    });
    return products;
  }

  /// The last direction is not in x yet.
  void catch_up(double alpha) {
    context_.meter.compute(phases_.sweep, traffic(catch_up_bytes, sizeof(double), 0), [&] {
      domain_.each_strip([&](const Strip& strip) {
        for (std::int64_t i = 0; i < strip.rows(); ++i) {
          add(strip.x.row(i), alpha, strip.p.row(i), strip.cols());
        }
      });
    });
  }

  /// A strip whose rows are counted in the order of this sweep.
  Strip in_order(const Strip& strip) const { return upwards_ ? upside_down(strip) : strip; }

  /// Of row i in the order of this sweep.
  RowSums& row_sums(const Strip& strip, std::int64_t i) {
    const auto row = upwards_ ? strip.rows() - 1 - i : i;
    return row_sums_[as_size(1 + domain_.first_row(strip) + row)];
  }

  /// Whether the boundary comes before the first row of this sweep.
  bool at_boundary(const Strip& strip) const {
    const auto& rows = strip.place.rows;
    return upwards_ ? rows.end == domain_.cut().n : rows.begin == 0;
  }

  /// bytes, written, flops: of a point.
  Traffic traffic(double bytes, double written, double flops) const {
    const auto points = static_cast<double>(domain_.place().points());
    return {bytes * points, flops * points, 3 * sizeof(double) * points, written * points};
  }

  Traffic edge_traffic(double regions) const {
    const double bytes = 2 * sizeof(double) * domain_.edge_points();
    return {bytes, 0, bytes, bytes / 2, regions};
  }

  const Context context_;
  Domain& domain_;
  FusedPhases phases_;
  /// From the row above the first to the one below the last; added up in order: the same for any
  /// number of threads.
  std::vector<RowSums> row_sums_;
  bool upwards_ = false;  ///< this sweep
};

}  // namespace

std::unique_ptr<Rescue> make_rescue(const Context& context, Domain& domain,
                                    const FusedPhases& phases) {
  return std::make_unique<Fused>(context, domain, phases);
}

Variant fused() {
  Variant variant;
  variant.name = "fused";
  variant.vectors = 3;
  variant.period = 2;
  variant.bytes_per_point_iteration = bytes_per_iteration;
  variant.memory_bytes = [](const Cut& cut) { return cut.memory_bytes(3); };
  variant.make = [](const Context& context, Domain& domain) -> std::unique_ptr<Solver> {
    return std::make_unique<Fused>(context, domain, FusedPhases(context.meter));
  };
  return variant;
}

}  // namespace halobench::cg

// The conjugate gradient method as the papers describe it: two inner products, three vector updates
// and one product with A an iteration, a loop each, on four vectors.
#include <algorithm>
#include <numeric>

#include "kernels/poisson_cg/solver.hpp"

namespace halobench::cg {
namespace {

// Bytes a point, as the memory sees them: a vector written without being read is fetched first.
constexpr double product_bytes = 24;  // read p, write q
constexpr double dot_bytes = 16;      // read both; 8 where they are the same
constexpr double update_bytes = 24;   // read both, write one
constexpr double bytes_per_iteration = product_bytes + dot_bytes + dot_bytes / 2 + 3 * update_bytes;
constexpr double flops_per_iteration = 5 + 2 * 2 + 3 * 2;

class Textbook : public Solver {
 public:
  Textbook(const Context& context, Domain& domain)
      : context_(context),
        domain_(domain),
        matvec_(context.meter.phase("matvec")),
        edges_(context.meter.phase("edges")),
        halo_(context.meter.phase("halo")),
        dots_(context.meter.phase("dots")),
        updates_(context.meter.phase("updates")),
        reduce_(context.meter.phase("reduce")),
        row_sums_(static_cast<std::size_t>(domain.place().rows.size())) {}

  void solve(Progress& progress) override {
    double rho = inner_product(&Strip::r, &Strip::r);
    double beta = 0;
    while (progress.wants_more(rho)) {
      turn_direction(beta);
      multiply_direction();
      const double alpha = rho / inner_product(&Strip::p, &Strip::q);
      update(&Strip::x, alpha, &Strip::p);
      update(&Strip::r, -alpha, &Strip::q);
      const double next = inner_product(&Strip::r, &Strip::r);
      beta = next / rho;
      rho = next;
    }
  }

  Work work(std::int64_t iterations) const override {
    const auto points = static_cast<double>(domain_.place().points());
    const auto count = static_cast<double>(iterations);
    return {points * (bytes_per_iteration * count + dot_bytes / 2),
            points * (flops_per_iteration * count + 2),
            count * static_cast<double>(domain_.exchange().messages())};
  }

 private:
  Traffic traffic(double bytes, double flops) const {
    const auto points = static_cast<double>(domain_.place().points());
    return {bytes * points, flops * points, 4 * sizeof(double) * points};
  }

  double inner_product(Vector a, Vector b) {
    double sum = 0;
    context_.meter.compute(dots_, traffic(a == b ? dot_bytes / 2 : dot_bytes, 2), [&] {
      domain_.each_strip([&](const Strip& strip) {
        for (std::int64_t i = 0; i < strip.rows(); ++i) {
          row_sums_[static_cast<std::size_t>(domain_.first_row(strip) + i)] =
              dot((strip.*a).row(i), (strip.*b).row(i), strip.cols());
        }
      });
      sum = std::accumulate(row_sums_.begin(), row_sums_.end(), 0.0);
    });
    context_.meter.communicate(reduce_, [&] { sum = context_.comm.sum(sum); });
    return sum;
  }

  void update(Vector y, double factor, Vector x) {
    context_.meter.compute(updates_, traffic(update_bytes, 2), [&] {
      domain_.each_strip([&](const Strip& strip) {
        for (std::int64_t i = 0; i < strip.rows(); ++i) {
          add((strip.*y).row(i), factor, (strip.*x).row(i), strip.cols());
        }
      });
    });
  }

  void turn_direction(double beta) {
    context_.meter.compute(updates_, traffic(update_bytes, 2), [&] {
      domain_.each_strip([&](const Strip& strip) {
        for (std::int64_t i = 0; i < strip.rows(); ++i) {
          turn(strip.p.row(i), strip.r.row(i), beta, strip.cols());
        }
      });
    });
  }

  /// q = A p. Where messages travel by themselves, the points that need none are done meanwhile.
  void multiply_direction() {
    auto& exchange = domain_.exchange();
    context_.meter.compute(edges_, edge_traffic(), [&] {
      domain_.join(&Strip::p);
      domain_.pack(&Strip::p);
    });
    context_.meter.communicate(halo_, [&] { exchange.start(); });
    if (exchange.overlaps()) {
      context_.meter.compute(matvec_, traffic(product_bytes, 5), [&] { multiply_inside(); });
    }
    context_.meter.communicate(halo_, [&] { exchange.finish(); });
    context_.meter.compute(edges_, edge_traffic(), [&] {
      domain_.unpack_rows(&Strip::p);
      domain_.unpack_columns(&Strip::p);
      if (exchange.overlaps()) multiply_edges();
    });
    if (!exchange.overlaps()) {
      context_.meter.compute(matvec_, traffic(product_bytes, 5), [&] { multiply_all(); });
    }
  }

  Traffic edge_traffic() const {
    return {2 * sizeof(double) * domain_.edge_points(), 0,
            2 * sizeof(double) * domain_.edge_points()};
  }

  void multiply_all() {
    domain_.each_strip([](const Strip& strip) {
      for (std::int64_t i = 0; i < strip.rows(); ++i) {
        multiply(strip.q, strip.p, i, {0, strip.cols()});
      }
    });
  }

  void multiply_inside() {
    domain_.each_strip([](const Strip& strip) {
      for (std::int64_t i = strip.inside.rows.begin; i < strip.inside.rows.end; ++i) {
        multiply(strip.q, strip.p, i, strip.inside.cols);
      }
    });
  }

  void multiply_edges() {
    for (const auto& segment : domain_.row_segments()) {
      multiply(segment.strip->q, segment.strip->p, segment.row, {0, segment.count});
    }
    for (const auto& segment : domain_.column_segments()) {
      for (std::int64_t k = 0; k < segment.count; ++k) {
        multiply(segment.strip->q, segment.strip->p, segment.row + k,
                 {segment.col, segment.col + 1});
      }
    }
  }

  const Context context_;
  Domain& domain_;
  Phase& matvec_;
  Phase& edges_;
  Phase& halo_;
  Phase& dots_;
  Phase& updates_;
  Phase& reduce_;
  std::vector<double> row_sums_;  // added up in order: the same for any number of threads
};

}  // namespace

Variant textbook() {
  Variant variant;
  variant.name = "textbook";
  variant.vectors = 4;
  variant.bytes_per_point_iteration = bytes_per_iteration;
  variant.memory_bytes = [](const Cut& cut) {  // as the papers predict it: without halos
    return 4.0 * sizeof(double) * static_cast<double>(cut.n) * static_cast<double>(cut.n);
  };
  variant.make = [](const Context& context, Domain& domain) -> std::unique_ptr<Solver> {
    return std::make_unique<Textbook>(context, domain);
  };
  return variant;
}

}  // namespace halobench::cg

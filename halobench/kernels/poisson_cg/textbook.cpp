// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradient method as the papers describe it: two inner products, three vector updates
// and one product with A an iteration, a loop each, on four vectors.
#include <algorithm>
#include <numeric>

#include "base/as_size.hpp"
#include "kernels/poisson_cg/product.hpp"
#include "kernels/poisson_cg/solver.hpp"

namespace halobench::cg {
namespace {

// Bytes a point, as the memory sees them: a vector written without being read is fetched first.
constexpr double dot_bytes = 16;     // read both; 8 where they are the same
constexpr double update_bytes = 24;  // read both, write one
constexpr double bytes_per_iteration =
    Product::bytes + dot_bytes + dot_bytes / 2 + 3 * update_bytes;
constexpr double flops_per_iteration = Product::flops + 2 * 2 + 3 * 2;

class Textbook : public Solver {
 public:
  Textbook(const Context& context, Domain& domain)
      : context_(context),
        domain_(domain),
        product_(context, domain),
        dots_(context.meter.phase("dots")),
        updates_(context.meter.phase("updates")),
        reduce_(context.meter.phase("reduce")),
        row_sums_(as_size(domain.place().rows.size())) {}

  void solve(Progress& progress) override {
    double rho = inner_product(&Strip::r, &Strip::r);
    double beta = 0;
    while (progress.wants_more(rho)) {
      turn_direction(beta);
      product_.apply(&Strip::q, &Strip::p);
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
  /// bytes, written, flops: of a point.
  Traffic traffic(double bytes, double written, double flops) const {
    const auto points = static_cast<double>(domain_.place().points());
    return {bytes * points, flops * points, 4 * sizeof(double) * points, written * points};
  }

  double inner_product(Vector a, Vector b) {
    double sum = 0;
    context_.meter.compute(dots_, traffic(a == b ? dot_bytes / 2 : dot_bytes, 0, 2), [&] {
      domain_.each_strip([&](const Strip& strip) {
        for (std::int64_t i = 0; i < strip.rows(); ++i) {
          row_sums_[as_size(domain_.first_row(strip) + i)] =
              dot((strip.*a).row(i), (strip.*b).row(i), strip.cols());
        }
      });
      sum = std::accumulate(row_sums_.begin(), row_sums_.end(), 0.0);
    });
    context_.meter.communicate(reduce_, [&] { sum = context_.comm.sum(sum); });
    return sum;
  }

  void update(Vector y, double factor, Vector x) {
    context_.meter.compute(updates_, traffic(update_bytes, 8, 2), [&] {
      domain_.each_strip([&](const Strip& strip) {
        for (std::int64_t i = 0; i < strip.rows(); ++i) {
          add((strip.*y).row(i), factor, (strip.*x).row(i), strip.cols());
        }
      });
    });
  }

  void turn_direction(double beta) {
    context_.meter.compute(updates_, traffic(update_bytes, 8, 2), [&] {
      domain_.each_strip([&](const Strip& strip) {
        for (std::int64_t i = 0; i < strip.rows(); ++i) {
          turn(strip.p.row(i), strip.r.row(i), beta, strip.cols());
        }
      });
    });
  }

  const Context context_;
  Domain& domain_;
  Product product_;
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

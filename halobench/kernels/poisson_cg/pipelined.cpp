// SPDX-License-Identifier: BSD-3-Clause
// The conjugate gradient method with its one reduction hidden behind the product with A.
//
// Ghysels and Vanroose, Parallel Computing 40, 2014, algorithm 3: with w = A r, s = A p and z = A s
// kept up by recurrences, both inner products of an iteration can travel while A w is computed. The
// price is three more vectors, and recurrences that drift further from the true residual.
#include <array>
#include <optional>

#include "base/as_size.hpp"
#include "kernels/poisson_cg/product.hpp"
#include "kernels/poisson_cg/solver.hpp"
#include "mpi/pending_sum.hpp"

namespace halobench::cg {
namespace {

constexpr int vectors = 7;
constexpr double update_bytes = 7 * 8 + 6 * 8;  // reads all, writes all but q
constexpr double update_written = 6 * 8;
constexpr std::int64_t renewal = 64;  // iterations from one renewal to the next
constexpr double renewed = 3;         // products
constexpr double update_flops = 6 * 2 + 2 * 2;

class Pipelined : public Solver {
 public:
  Pipelined(const Context& context, Domain& domain)
      : context_(context),
        domain_(domain),
        product_(context, domain),
        updates_(context.meter.phase("updates")),
        reduce_(context.meter.phase("reduce")),
        row_sums_(as_size(domain.place().rows.size())) {}

  void solve(Progress& progress) override {
    product_.apply(&Strip::w, &Strip::r);
    auto now = update(0, 0);  // changes nothing: the inner products of the start
    double alpha = 0;
    double last_residual = 0;
    for (;;) {
      multiply_meanwhile(now);
      const auto [residual, coupling] = now;
      if (!progress.wants_more(residual)) return;
      const double beta = alpha == 0 ? 0 : residual / last_residual;
      alpha = residual / (coupling - (alpha == 0 ? 0 : beta * residual / alpha));
      last_residual = residual;
      now = update(alpha, beta);
      if (progress.iterations() % renewal == 0) renew_products();
    }
  }

  Work work(std::int64_t iterations) const override {
    const auto points = static_cast<double>(domain_.place().points());
    const auto updates = static_cast<double>(iterations) + 1;
    const auto products = updates + 1 + renewed * static_cast<double>(iterations / renewal);
    return {points * (update_bytes * updates + Product::bytes * products),
            points * (update_flops * updates + Product::flops * products),
            products * static_cast<double>(domain_.exchange().messages())};
  }

 private:
  using Products = std::array<double, 2>;  // (r, r) and (w, r)

  /// q = A w while `products` are added up over all ranks.
  void multiply_meanwhile(Products& products) {
    std::optional<PendingSum> sum;
    context_.meter.communicate(reduce_, [&] { sum.emplace(context_.comm, products); });
    product_.apply(&Strip::q, &Strip::w);
    context_.meter.communicate(reduce_, [&] { sum->finish(); });
  }

  void renew_products() {
    product_.apply(&Strip::w, &Strip::r);
    product_.apply(&Strip::s, &Strip::p);
    product_.apply(&Strip::z, &Strip::s);
  }

  /// All six recurrences in one pass; this rank's part of the inner products of the new r.
  Products update(double alpha, double beta) {
    Products products{};
    const auto points = static_cast<double>(domain_.place().points());
    const Traffic traffic{update_bytes * points, update_flops * points,
                          vectors * sizeof(double) * points, update_written * points};
    context_.meter.compute(updates_, traffic, [&] {
      domain_.each_strip([&](const Strip& strip) {
        for (std::int64_t i = 0; i < strip.rows(); ++i) {
          row_sums_[as_size(domain_.first_row(strip) + i)] = renew(strip, i, alpha, beta);
        }
      });
      for (const auto& sums : row_sums_) {
        products[0] += sums.residual;
        products[1] += sums.coupling;
      }
    });
    return products;
  }

  const Context context_;
  Domain& domain_;
  Product product_;
  Phase& updates_;
  Phase& reduce_;
  std::vector<RenewSums> row_sums_;  // added up in order: the same for any number of threads
};

}  // namespace

Variant pipelined() {
  Variant variant;
  variant.name = "pipelined";
  variant.vectors = vectors;
  variant.period = renewal;
  variant.bytes_per_point_iteration =
      Product::bytes * (1 + renewed / static_cast<double>(renewal)) + update_bytes;
  variant.memory_bytes = [](const Cut& cut) { return cut.memory_bytes(vectors); };
  variant.make = [](const Context& context, Domain& domain) -> std::unique_ptr<Solver> {
    return std::make_unique<Pipelined>(context, domain);
  };
  return variant;
}

}  // namespace halobench::cg

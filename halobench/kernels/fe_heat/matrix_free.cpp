// SPDX-License-Identifier: BSD-3-Clause
// The operator without a matrix: each node's row from 27 weights. Elements are all alike, so their
// matrix is integrated once; and A p is worked out again where it is wanted instead of being
// stored.
#include <omp.h>

#include "base/as_size.hpp"
#include "kernels/fe_heat/operator.hpp"
#include "numerics/poisson/poisson_rows.hpp"

namespace halobench::heat {
namespace {

constexpr std::int64_t page_values = 512;  ///< apart, so that threads share no line and no page

class MatrixFree : public Operator {
 public:
  explicit MatrixFree(const Part& part)
      : part_(part),
        line_((part.size(0) + 2 + page_values - 1) / page_values * page_values),
        scratch_(as_size(2 * line_ * omp_get_max_threads())) {}

  void forget() override { product_ = NodeRowProduct({}); }
  void assemble(const NodeRow& row) override { product_ = NodeRowProduct(row); }

  void multiply(const Piece& piece, const double* p, std::span<double> sums) override {
    part_.for_each_line(piece, [&](const Line& line) {
      const double* own = p + part_.places().of(line.begin, line.y, line.z);
      sums[as_size(line.number)] = dot(own, product(line, p), line.size());
    });
  }

  const double* product(const Line& line, const double* p) override {
    double* result = scratch_.data() + 2 * line_ * omp_get_thread_num();
    product_.multiply(p + part_.places().of(line.begin, line.y, line.z), part_.places().row(),
                      part_.places().plane(), line.size(), result, result + line_);
    return result;
  }

  bool stores() const override { return false; }
  std::int64_t nonzeros() const override { return 0; }

  /// p, read once.
  Traffic multiply_traffic(std::int64_t rows) const override {
    const auto count = static_cast<double>(rows);
    return {8 * count, (NodeRowProduct::flops + 2) * count,
            8 * static_cast<double>(part_.places().count()), 0};
  }
  Traffic product_traffic() const override {
    return {0, NodeRowProduct::flops * static_cast<double>(part_.rows()), 0, 0};
  }

 private:
  const Part& part_;
  std::int64_t line_;
  NodeRowProduct product_{{}};
  std::vector<double> scratch_;  ///< of each thread, a line of A p and what that takes
};

}  // namespace

std::unique_ptr<Operator> make_matrix_free(const Part& part) {
  return std::make_unique<MatrixFree>(part);
}

}  // namespace halobench::heat

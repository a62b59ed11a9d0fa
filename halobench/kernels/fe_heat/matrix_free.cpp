// SPDX-License-Identifier: BSD-3-Clause
// The operator without a matrix: each node's row from 27 weights. Elements are all alike, so their
// matrix is integrated once; and A p is computed twice instead of being stored.
#include "base/as_size.hpp"
#include "kernels/fe_heat/operator.hpp"
#include "numerics/node_row_product.hpp"

namespace halobench::heat {
namespace {

class MatrixFree : public Operator {
 public:
  explicit MatrixFree(const Part& part) : part_(part) {}

  void forget() override { product_ = NodeRowProduct({}); }
  void assemble(const NodeRow& row) override { product_ = NodeRowProduct(row); }

  void multiply(const Piece& piece, const double* p, std::span<double> sums) override {
    for_each_lines(piece, [&](const Line& line, std::int64_t count, const NodeLines& nodes) {
      product_.dot(nodes, count, p, &sums[as_size(line.number)]);
    });
  }

  void advance(double alpha, const double* p, double* x, double* r,
               std::span<double> squares) override {
    for_each_lines(part_.whole(),
                   [&](const Line& line, std::int64_t count, const NodeLines& nodes) {
                     product_.advance(nodes, count, alpha, p, x, r, &squares[as_size(line.number)]);
                   });
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
  template <class Body>
  void for_each_lines(const Piece& piece, const Body& body) const {
    const auto& places = part_.places();
    part_.for_each_lines<NodeRowProduct::most_lines>(piece, [&](const Line& line,
                                                                std::int64_t count) {
      body(
          line, count,
          NodeLines{
              places.of(-1, line.y, line.z), places.row(), places.plane(), {line.begin, line.end}});
    });
  }

  const Part& part_;
  NodeRowProduct product_{{}};
};

}  // namespace

std::unique_ptr<Operator> make_matrix_free(const Part& part) {
  return std::make_unique<MatrixFree>(part);
}

}  // namespace halobench::heat

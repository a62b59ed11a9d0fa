// SPDX-License-Identifier: BSD-3-Clause
// One vector times A over all ranks: exchange and loop, for the variants that do it by itself.
#pragma once

#include "kernels/poisson_cg/domain.hpp"

namespace halobench::cg {

class Product {
 public:
  Product(const Context& context, Domain& domain);

  static constexpr double bytes = 24;  ///< a point: read one vector, fetch and write the other
  static constexpr double stored = 16;
  static constexpr double flops = 5;

  /// to = A from; fills the halos of `from`. Where messages travel by themselves, the points that
  /// need none are done meanwhile.
  void apply(Vector to, Vector from);

 private:
  void multiply_all(Vector to, Vector from) const;
  void multiply_inside(Vector to, Vector from) const;
  void multiply_edges(Vector to, Vector from) const;

  const Context context_;
  Domain& domain_;
  Phase& matvec_;
  Phase& edges_;
  Phase& halo_;
};

}  // namespace halobench::cg

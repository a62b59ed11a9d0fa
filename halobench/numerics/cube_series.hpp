// SPDX-License-Identifier: BSD-3-Clause
// The temperature in a cube with one hot face, by its series.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/extents.hpp"

namespace halobench {

/// Steady temperature in the unit cube, 1 on the face x = 1 and 0 on the five others:
///
///   16/pi^2 sum over odd p, q of sin(p pi y) sin(q pi z) sinh(l x) / (p q sinh l),
///
/// l = pi sqrt(p^2 + q^2), at the nodes of a mesh with x <= 1/2: there terms fall off so fast that
/// those with p^2 + q^2 of 625 and more add up to less than 1e-16. Source: H. S. Carslaw, J. C.
/// Jaeger, Conduction of Heat in Solids, 2nd edition, 1959, section 6.2.
class CubeSeries {
 public:
  explicit CubeSeries(const Extents& elements);

  /// Nodes along x, from 0 on, that it is for.
  std::int64_t nodes_along_x() const { return std::ssize(factors_[0]); }
  /// values[i] = T at node (begin + i, y, z), for `count` nodes.
  void line(std::int64_t begin, std::int64_t count, std::int64_t y, std::int64_t z,
            double* values) const;

 private:
  struct Term {
    std::size_t p;  ///< of the odd numbers, from 0
    std::size_t q;
  };

  std::vector<Term> terms_;
  std::vector<std::vector<double>> factors_;               ///< of each term, at each node along x
  std::array<std::vector<std::vector<double>>, 2> sines_;  ///< along y and z: of each odd number
};

}  // namespace halobench

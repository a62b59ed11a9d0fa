// The test problem of the HPCF reports: -Laplace u = f on the unit square, u = 0 on its boundary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halobench {

/// n x n interior points, mesh width h = 1/(n+1), five-point differences: A u = h^2 f with 4 on the
/// diagonal of A and -1 for each neighbour. Source: hpcf-2018-10, section 2 and equation (3.1).
class Poisson {
 public:
  explicit Poisson(std::int64_t n);

  std::int64_t n() const { return n_; }
  double h() const { return h_; }

  /// h^2 f at an interior point; rows and columns count from 0.
  double right_side(std::int64_t row, std::int64_t col) const {
    return scale_ *
           (cos_2pi_[index(col)] * sin2_[index(row)] + sin2_[index(col)] * cos_2pi_[index(row)]);
  }

  /// u = sin^2(pi x) sin^2(pi y), the solution of the differential equation.
  double exact(std::int64_t row, std::int64_t col) const {
    return sin2_[index(col)] * sin2_[index(row)];
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::int64_t n_;
  double h_;
  double scale_;                 // -2 pi^2 h^2
  std::vector<double> sin2_;     // sin^2(pi x_i)
  std::vector<double> cos_2pi_;  // cos(2 pi x_i)
};

}  // namespace halobench

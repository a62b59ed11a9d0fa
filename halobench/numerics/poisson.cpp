#include "numerics/poisson.hpp"

#include <cmath>
#include <numbers>

namespace halobench {

using std::numbers::pi;

Poisson::Poisson(std::int64_t n)
    : n_(n), h_(1.0 / static_cast<double>(n + 1)), scale_(-2.0 * pi * pi * h_ * h_) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i + 1) * h_;
    sin2_.push_back(std::sin(pi * x) * std::sin(pi * x));
    cos_2pi_.push_back(std::cos(2.0 * pi * x));
  }
}

}  // namespace halobench

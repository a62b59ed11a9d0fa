#include <cmath>

#include "kernels/poisson_cg/solver.hpp"

namespace halobench::cg {

bool Progress::wants_more(double residual_squared) {
  if (!limits_.observing) {
    if (iterations_ == limits_.iterations) return false;
    ++iterations_;
    return true;
  }
  if (!started_) first_ = best_ = residual_squared;
  started_ = true;
  last_ = residual_squared;
  const auto done = std::to_string(iterations_) + " iterations";
  if (!std::isfinite(last_)) return stop("the residual is not a finite number after " + done);
  if (last_ == 0) return false;
  if (limits_.iterations > 0) {
    if (iterations_ == limits_.iterations) return false;
  } else if (last_ <= limits_.tolerance * limits_.tolerance * first_) {
    return false;
  } else if (iterations_ >= limits_.most) {
    return stop("not converged after " + done + ", the most that were allowed");
  }
  if (last_ < best_) {
    best_ = last_;
    best_at_ = iterations_;
  } else if (limits_.iterations == 0 && iterations_ - best_at_ >= limits_.patience) {
    return stop("stagnation: no smaller residual in the last " + std::to_string(limits_.patience) +
                " of " + done);
  }
  ++iterations_;
  return true;
}

bool Progress::stop(const std::string& failure) {
  failure_ = failure;
  return false;
}

double Progress::residual_relative() const { return first_ > 0 ? std::sqrt(last_ / first_) : 0.0; }

}  // namespace halobench::cg

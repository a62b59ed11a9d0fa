// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/cg/progress.hpp"

#include <cmath>
#include <utility>

namespace halobench::cg {
namespace {

constexpr std::int64_t settling = 4;     ///< iterations until ranks are in step with each other
constexpr std::int64_t least_timed = 4;  ///< that stand for the rest
constexpr std::int64_t many = 4;         ///< times as many are worth passing over
constexpr double alike_within = 1e-9;    ///< of their time are iterations that are alike

}  // namespace

Limits parse_limits(const Params& params, std::int64_t n) {
  Limits limits{params.integer("iterations"), params.real("tolerance"),
                params.integer("max_iterations")};
  if (limits.most == 0) limits.most = 10 * n + 100;
  limits.patience = 5 * n + 100;  // the residual of a smooth right-hand side grows at first
  return limits;
}

bool Progress::wants_more(double residual_squared) {
  if (!limits_.observing) {
    alike_ = asked_ > 2 && residual_squared == 0;
    if (context_ != nullptr) pass_over_what_is_alike();
    if (iterations_ == limits_.iterations) return false;
    ++iterations_;
    return true;
  }
  if (!started_) first_ = best_ = residual_squared;
  started_ = true;
  last_ = residual_squared;
  const auto done = std::to_string(iterations_) + " iterations";
  if (!std::isfinite(last_)) return stop("the residual is not finite after " + done);
  if (last_ == 0) return false;
  if (limits_.iterations > 0) {
    if (iterations_ == limits_.iterations) return false;
  } else if (last_ <= limits_.tolerance * limits_.tolerance * first_) {
    return false;
  } else if (iterations_ >= limits_.most) {
    return stop("not converged after " + done + " (the limit)");
  }
  if (last_ < best_) {
    best_ = last_;
    best_at_ = iterations_;
  } else if (limits_.iterations == 0 && iterations_ - best_at_ >= limits_.patience) {
    return stop("stagnation: the residual did not decrease in the last " +
                std::to_string(limits_.patience) + " of " + done);
  }
  ++iterations_;
  return true;
}

/// Two iterations that took as long as each other on every rank leave ranks as far out of step as
/// they found them: so will all that follow.
double Progress::unlike() {
  if (limits_.observing || context_ == nullptr) return 0;
  context_->meter.settle();
  const double now_s = simulated_now_s();
  const double before_s = std::exchange(took_s_, now_s - std::exchange(asked_s_, now_s));
  const bool alike = std::abs(took_s_ - before_s) <= alike_within * took_s_;
  return asked_++ > 1 && alike ? 0 : 1;
}

/// A part of a period at the end counts as that part of its time.
void Progress::pass_over_what_is_alike() {
  const std::int64_t timed = (least_timed + limits_.period - 1) / limits_.period * limits_.period;
  if (limits_.iterations <= many * (settling + timed)) return;
  if (alike_ || iterations_ == settling + timed) return repeat_since_mark();
  if (iterations_ == settling || (asked_ > 0 && iterations_ < settling)) {
    mark_ = context_->meter.mark();
    marked_ = iterations_;
  }
}

void Progress::repeat_since_mark() {
  passed_over_ = limits_.iterations - iterations_;
  const auto timed = static_cast<double>(iterations_ - marked_);
  context_->meter.repeat_since(*mark_, static_cast<double>(passed_over_) / timed, context_->comm);
  iterations_ = limits_.iterations;
}

bool Progress::stop(const std::string& failure) {
  failure_ = failure;
  return false;
}

double Progress::residual_relative() const { return first_ > 0 ? std::sqrt(last_ / first_) : 0.0; }

}  // namespace halobench::cg

// SPDX-License-Identifier: BSD-3-Clause
// When a solve by the conjugate gradient method stops, and what a simulation may pass over of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernel.hpp"

namespace halobench::cg {

/// When to stop.
struct Limits {
  std::int64_t iterations = 0;  ///< a fixed count, or 0: to convergence
  double tolerance = 1e-6;      ///< of the residual's Euclidean norm, relative to the start's
  std::int64_t most = 0;        ///< a count that is taken for failure
  std::int64_t patience = 0;    ///< iterations without progress that are taken for failure
  bool observing = true;        ///< false: without real data, only the count matters
  std::int64_t period = 1;      ///< iterations after which a variant does the same again
};

/// `iterations`, `tolerance`, and `max_iterations`, of a mesh with n points along its longest axis.
Limits parse_limits(const Params& params, std::int64_t n);

/// Watches the residual of one solve. Without real data iterations are alike: those
/// after the first few are passed over, at the cost of the last of these. A solver that asks
/// unlike() leaves it to the simulated clock how few, down to three.
class Progress {
 public:
  /// Passes nothing over.
  explicit Progress(const Limits& limits) : limits_(limits) {}
  Progress(const Limits& limits, const Context& context) : limits_(limits), context_(&context) {}

  /// Whether to do another iteration, given (r, r) after those done so far; counts it.
  /// Collective. Without real data, a solver passes the sum of unlike() over all ranks.
  bool wants_more(double residual_squared);
  /// Without real data: 0 if the last iteration of this rank took as long as the one before,
  /// else 1. The sum over all ranks shows whether iterations are alike by now. Called once per
  /// iteration, at the same place, before a sum that costs the same with it.
  double unlike();

  /// All of the solve, with those passed over.
  std::int64_t iterations() const { return iterations_; }
  std::int64_t passed_over() const { return passed_over_; }
  /// Norm of the residual as the method updates it, relative to the start's.
  double residual_relative() const;
  /// Why the solve failed; empty if it didn't.
  const std::string& failure() const { return failure_; }

 private:
  bool stop(const std::string& failure);
  void pass_over_what_is_alike();
  void repeat_since_mark();

  Limits limits_;
  const Context* context_ = nullptr;
  std::int64_t iterations_ = 0;
  std::int64_t passed_over_ = 0;
  std::optional<Meter::Mark> mark_;
  std::int64_t marked_ = 0;  ///< iterations at the mark
  std::int64_t asked_ = 0;   ///< how often unlike() was
  double asked_s_ = 0;       ///< when it was, the last time
  double took_s_ = 0;        ///< from the time before until then
  bool alike_ = false;       ///< the last two iterations, on every rank
  bool started_ = false;
  double first_ = 0;
  double last_ = 0;
  double best_ = 0;
  std::int64_t best_at_ = 0;
  std::string failure_;
};

}  // namespace halobench::cg

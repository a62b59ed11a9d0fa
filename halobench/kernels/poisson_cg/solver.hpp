// What the variants of the conjugate gradient method share: when to stop, and how they are called.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kernel.hpp"
#include "kernels/poisson_cg/domain.hpp"

namespace halobench::cg {

/// When to stop.
struct Limits {
  std::int64_t iterations = 0;  ///< a fixed count, or 0: to convergence
  double tolerance = 1e-6;      ///< of the residual's Euclidean norm, relative to the start's
  std::int64_t most = 0;        ///< a count that is taken for failure
  std::int64_t patience = 0;    ///< iterations without progress that are taken for failure
  bool observing = true;        ///< false: there are no real data, only the count matters
  std::int64_t period = 1;      ///< iterations after which a variant does the same again
};

/// Watches the residual of one solve. Where there are no real data iterations are alike: those
/// after the first few are passed over, at the cost of the last of these.
class Progress {
 public:
  /// Passes nothing over.
  explicit Progress(const Limits& limits) : limits_(limits) {}
  Progress(const Limits& limits, const Context& context) : limits_(limits), context_(&context) {}

  /// Whether another iteration is wanted, given (r, r) after those done so far; counts it.
  /// Collective.
  bool wants_more(double residual_squared);

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

  Limits limits_;
  const Context* context_ = nullptr;
  std::int64_t iterations_ = 0;
  std::int64_t passed_over_ = 0;
  std::optional<Meter::Mark> mark_;
  bool started_ = false;
  double first_ = 0;
  double last_ = 0;
  double best_ = 0;
  std::int64_t best_at_ = 0;
  std::string failure_;
};

/// A variant of the method on one rank's domain.
class Solver {
 public:
  virtual ~Solver() = default;

  /// Solves from x = 0, r = the right-hand side.
  virtual void solve(Progress& progress) = 0;
  /// What a solve with that many iterations does on this rank.
  virtual Work work(std::int64_t iterations) const = 0;
  /// The iteration from which the last solve went on as fused; nothing if the method carried it.
  virtual std::optional<std::int64_t> fallback_at() const { return {}; }
};

/// A variant: what is known of it beforehand, and how to make its solver.
struct Variant {
  std::string name;
  int vectors;
  double bytes_per_point_iteration;
  std::function<double(const Cut& cut)> memory_bytes;  ///< what a case needs, over all ranks
  std::function<std::unique_ptr<Solver>(const Context& context, Domain& domain)> make;
  std::int64_t halo = 1;    ///< points that a rank must know beyond its edges
  std::int64_t period = 1;  ///< iterations after which it does the same again
};

/// What variant=sstep is asked for.
struct SstepSetting {
  std::int64_t s = 2;       ///< iterations a sweep; even
  std::int64_t every = 16;  ///< sweeps from one reorthogonalisation to the next
  ExchangeMode exchange = ExchangeMode::nonblocking;
};

Variant textbook();
Variant fused();
Variant pipelined();
Variant sstep(const SstepSetting& setting);

/// The phases of fused, for a variant that may go on as fused.
struct FusedPhases {
  Phase& sweep;
  Phase& edges;
  Phase& halo;
  Phase& reduce;

  explicit FusedPhases(Meter& meter)
      : sweep(meter.phase("sweep")),
        edges(meter.phase("edges")),
        halo(meter.phase("halo")),
        reduce(meter.phase("reduce")) {}
};

/// Fused as another variant's rescue.
class Rescue : public Solver {
 public:
  /// Goes on from x, r, the last p and their halos, with `step` and (r, r).
  virtual void go_on(Step step, double residual, Progress& progress) = 0;
};
std::unique_ptr<Rescue> make_rescue(const Context& context, Domain& domain,
                                    const FusedPhases& phases);

}  // namespace halobench::cg

// SPDX-License-Identifier: BSD-3-Clause
// What the variants of the conjugate gradient method share: how they are called.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kernel.hpp"
#include "kernels/cg/progress.hpp"
#include "kernels/poisson_cg/domain.hpp"

namespace halobench::cg {

/// A variant of the method on one rank's domain.
class Solver {
 public:
  virtual ~Solver() = default;

  /// Solves from x = 0, r = the right-hand side.
  virtual void solve(Progress& progress) = 0;
  /// What a solve with that many iterations does on this rank.
  virtual Work work(std::int64_t iterations) const = 0;
  /// Takes what the domain holds to begin with, where it works in another memory ...
  virtual void take_start() {}
  /// ... and gives it the solution; neither is timed.
  virtual void give_solution() {}
  /// The device in whose memory it works; empty for the host's.
  virtual std::string device() const { return {}; }
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

/// Parameters of variant=sstep.
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

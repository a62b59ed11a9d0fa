// SPDX-License-Identifier: BSD-3-Clause
// How much slower than the node model says a node is in this launch: nodes are not all alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halobench {

/// How far nodes lie apart: standard deviations of the logarithm of what computation takes. Of
/// nodes, whatever they do; of phases, each by itself, on a node from one launch to the next.
/// seed: of the launch; the same launch has the same nodes again. slowest: a factor on what all of
/// them take, of a launch whose nodes are not drawn but expected to wait for the slowest.
struct Spread {
  double nodes = 0;
  double phases = 0;
  std::uint64_t seed = 0;
  double slowest = 1;
};

/// Factors on the times of the node model, drawn for one node: log-normal, with median 1.
///
/// All ranks of a node have the same ones, on whatever machine they are simulated: a factor is made
/// of the seed and of the names of node and phase alone. They stay for the whole launch, so that
/// iterations that are passed over take as long as those that are not.
class Slowness {
 public:
  Slowness() = default;
  Slowness(const Spread& spread, std::string_view host);

  /// Of the node, in all that it does.
  double of_node() const { return node_; }
  /// Of a phase there: the node's own, and the phase's.
  double of_phase(std::string_view name) const;

 private:
  Spread spread_;
  std::string host_;
  double node_ = 1;
};

}  // namespace halobench

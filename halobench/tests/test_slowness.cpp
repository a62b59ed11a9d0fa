// SPDX-License-Identifier: BSD-3-Clause
// How far nodes lie apart: as far as they are set to, each by itself, and again the same.
#include <cmath>
#include <string>
#include <vector>

#include "expect.hpp"
#include "machine/slowness.hpp"

using halobench::Slowness;
using halobench::Spread;

namespace {

constexpr int nodes = 10000;

std::string host(int node) { return "node-" + std::to_string(node); }

struct Moments {
  double mean = 0;
  double deviation = 0;
};

/// Of logarithms.
template <class Factor>
Moments moments(Factor&& factor) {
  std::vector<double> logs;
  for (int node = 0; node < nodes; ++node) logs.push_back(std::log(factor(node)));
  Moments found;
  for (const double each : logs) found.mean += each / nodes;
  for (const double each : logs) found.deviation += std::pow(each - found.mean, 2) / nodes;
  found.deviation = std::sqrt(found.deviation);
  return found;
}

/// Of a normal sample of this size, mean and deviation have standard errors of 0.01 and 0.007.
void nodes_lie_as_far_apart_as_they_are_told_to() {
  const auto found = moments([](int node) { return Slowness({0.02, 0, 1}, host(node)).of_node(); });
  expect::is_true(std::abs(found.mean) < 0.04 * 0.02, "the one in the middle is slower");
  expect::is_true(std::abs(found.deviation / 0.02 - 1) < 0.03, "the deviation of nodes");
}

void phases_have_their_own_beside_the_node_s() {
  const Spread both{0.02, 0.01, 1};
  const auto own = moments([&](int node) {
    const Slowness one(both, host(node));
    return one.of_phase("matvec") / one.of_node();
  });
  expect::is_true(std::abs(own.deviation / 0.01 - 1) < 0.03, "the deviation of phases");
  const auto apart = moments([&](int node) {
    const Slowness one(both, host(node));
    return one.of_phase("matvec") / one.of_phase("update");
  });
  expect::is_true(std::abs(apart.deviation / 0.01414 - 1) < 0.03, "two phases go together");
}

void the_same_launch_has_the_same_nodes() {
  const auto of = [](std::uint64_t seed, const std::string& name) {
    return Slowness({0.02, 0.01, seed}, name).of_phase("matvec");
  };
  expect::equal(of(7, "node-3"), of(7, "node-3"));
  expect::is_true(of(7, "node-3") != of(8, "node-3"), "another launch has others");
  expect::is_true(of(7, "node-3") != of(7, "node-4"), "every node is the same");
}

void a_launch_that_expects_the_slowest_node_has_it_everywhere() {
  Spread spread;
  spread.slowest = 1.25;
  expect::equal(Slowness(spread, "node-1").of_node(), 1.25);
  expect::equal(Slowness(spread, "node-2").of_phase("matvec"), 1.25);
}

void nodes_that_are_alike_are_so_to_the_last_digit() {
  expect::equal(Slowness().of_node(), 1.0);
  expect::equal(Slowness().of_phase("matvec"), 1.0);
  expect::equal(Slowness({0, 0, 5}, "node-1").of_phase("matvec"), 1.0);
}

}  // namespace

int main() {
  nodes_lie_as_far_apart_as_they_are_told_to();
  phases_have_their_own_beside_the_node_s();
  the_same_launch_has_the_same_nodes();
  a_launch_that_expects_the_slowest_node_has_it_everywhere();
  nodes_that_are_alike_are_so_to_the_last_digit();
  return expect::exit_code();
}

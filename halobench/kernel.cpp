// SPDX-License-Identifier: BSD-3-Clause
#include "kernel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numerics/median.hpp"

namespace halobench {

Kernel::Kernel() = default;
Kernel::Kernel(const Kernel& other) = default;
Kernel::Kernel(Kernel&& other) noexcept = default;
Kernel& Kernel::operator=(const Kernel& other) = default;
Kernel& Kernel::operator=(Kernel&& other) noexcept = default;
Kernel::~Kernel() = default;

const std::vector<Kernel>& kernels() {
  static const auto all = [] {
    std::vector<Kernel> made;
    for (auto* const* maker = kernel_makers; *maker != nullptr; ++maker) made.push_back((*maker)());
    return made;
  }();
  return all;
}

std::vector<Parameter> Kernel::all_parameters() const {
  using enum Parameter::Type;
  auto all = parameters;
  all.push_back(
      {"repetitions", integer, repetitions, "timed repetitions in one launch", "", 1, 1e6});
  all.push_back({"warmup", integer, warmup, "steps run before each timed repetition", "", 0, 1e9});
  if (batched) {
    all.push_back({"steps", integer, "0",
                   "steps timed together in a repetition; 0 takes as many as the benchmark does "
                   "that the kernel follows, else as last a millisecond (one, with round_time)",
                   "", 0, 1e9});
  }
  all.push_back(Parameter::one_of(
      "synchronisation", synchronisation,
      "how ranks start a repetition: as each leaves a barrier (time: the longest over "
      "ranks of their own times), or at one time of a shared clock, announced before "
      "each round, late rounds repeated (time: the last rank's end less the start)",
      {"barrier", "round_time"}));
  all.push_back({"timeline", integer, "0",
                 "phases (and parts of them) that each rank records, from the beginning, of one "
                 "step more, which is not among the timed ones, and as many works of its device's "
                 "streams; 0: none",
                 "", 0, 1e5});
  if (has_parts) {
    all.push_back(Parameter::one_of(
        "parts", "no", "after the steps, time their parts too, each by itself", {"no", "yes"}));
  }
  return all;
}

Plan Kernel::plan_for(const Params& params, const Shape& shape) const {
  auto planned = plan(params, {std::max(shape.ranks, least_ranks), shape.threads});
  if (shape.ranks < least_ranks) {
    planned.problems.insert(planned.problems.begin(),
                            {"ranks", std::to_string(shape.ranks),
                             "needs at least " + std::to_string(least_ranks) + " ranks"});
  }
  return planned;
}

double Times::median() const { return median_of(seconds); }

double Times::mean() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

double Times::deviation() const {
  double squares = 0;
  for (const auto one : seconds) squares += (one - mean()) * (one - mean());
  return std::sqrt(squares / (static_cast<double>(seconds.size()) - 1));
}

}  // namespace halobench

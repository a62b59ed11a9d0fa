// SPDX-License-Identifier: BSD-3-Clause
#include "kernel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/median.hpp"
#include "base/usage_error.hpp"

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
    for (auto* const* maker = kernel_makers; *maker != nullptr; ++maker) {
      const auto* name = kernel_names[made.size()];
      require_whole(made.emplace_back((*maker)()), name);
    }
    return made;
  }();
  return all;
}

void require_whole(const Kernel& kernel, const std::string& name) {
  const auto fail = [&](const std::string& what) {
    throw UsageError("KERNEL(" + name + ") of kernels.def: Kernel " + name + "() " + what);
  };
  if (kernel.name != name) {
    fail("sets the name '" + kernel.name + "'; set kernel.name = \"" + name + "\"");
  }
  if (!kernel.plan) {
    fail(
        "sets no plan; without needs: kernel.plan = [](const Params&, const Shape&) { return "
        "Plan{}; }");
  }
  if (!kernel.setup) fail("sets no setup; set kernel.setup to what creates its Instance");
}

std::vector<Parameter> Kernel::all_parameters() const {
  using enum Parameter::Type;
  auto all = parameters;
  all.push_back(
      {"repetitions", integer, repetitions, "number of timed repetitions per launch", "", 1, 1e6});
  all.push_back({"warmup", integer, warmup, "number of warm-up steps before each timed repetition",
                 "", 0, 1e9});
  if (batched) {
    all.push_back(
        {"steps", integer, "0",
         "number of steps per repetition; the time of a repetition includes all of them. 0: the "
         "number in the original benchmark if there is one; otherwise, as many steps as "
         "take 1 ms (with synchronisation=round_time, 1 step)",
         "", 0, 1e9});
  }
  all.push_back(Parameter::one_of(
      "synchronisation", synchronisation,
      "how repetitions start. barrier: each rank starts when it leaves a barrier, and the time is "
      "the maximum over ranks; round_time: all ranks start at an agreed time on a shared clock, "
      "and timing ends when the last rank finishes. If a rank starts late, the repetition is run "
      "again",
      {"barrier", "round_time"}));
  all.push_back({"timeline", integer, "0",
                 "maximum number of phases (and of operations on device streams) to record on each "
                 "rank, in an additional step that is not timed; 0: record no timeline",
                 "", 0, 1e5});
  if (has_parts) {
    all.push_back(Parameter::one_of(
        "parts", "no", "whether to also time each part of a step separately, after the timed steps",
        {"no", "yes"}));
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

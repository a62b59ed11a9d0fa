// SPDX-License-Identifier: BSD-3-Clause
// What it takes to begin and end a parallel region of OpenMP, as J. M. Bull measures it (Measuring
// Synchronisation and Scheduling Overheads in OpenMP, EWOMP 1999): an empty one, many times over.
#include <omp.h>

#include <algorithm>

#include "base/as_size.hpp"
#include "kernel.hpp"

namespace halobench {
namespace {

constexpr std::int64_t line = 8;     ///< numbers of a cache line: no two threads share one
constexpr int regions_of_step = 64;  ///< enough that reading the clock does not count

class ParallelRegion : public Instance {
 public:
  explicit ParallelRegion(const Context& context)
      : comm_(context.comm),
        meter_(context.meter),
        phase_(context.meter.phase("regions")),
        threads_(context.meter.threads()),
        entered_(as_size(line * threads_)) {}

  void prepare() override {
    std::ranges::fill(entered_, 0);
    steps_ = 0;
  }

  void step() override {
    const Traffic traffic{.regions = regions_of_step};
    ++steps_;
    meter_.compute(phase_, traffic, [this] {
      for (int i = 0; i < regions_of_step; ++i) enter();
    });
  }

  /// Each thread's part of every region must have been done, by itself or, simulated, for it.
  Verdict verify() override {
    if (!meter_.executes()) return {};
    bool good = true;
    for (int thread = 0; thread < threads_; ++thread) {
      good = good && entered_[as_size(line * thread)] == steps_ * regions_of_step;
    }
    if (comm_.all(good)) return {};
    return {"a thread did not run its part of a parallel region"};
  }

  Work work() const override { return {}; }

  Json result(std::span<const Times> times) override {
    return Json::object().set("region_s", times[0].median() / regions_of_step);
  }

 private:
  void enter() {
#pragma omp parallel
    for (int i = omp_get_thread_num(); i < threads_; i += omp_get_num_threads()) {
      entered_[as_size(line * i)] += 1;
    }
  }

  const Communicator& comm_;
  Meter& meter_;
  Phase& phase_;
  int threads_;
  std::vector<std::int64_t> entered_;
  std::int64_t steps_ = 0;
};

}  // namespace

Kernel parallel_region() {
  Kernel kernel;
  kernel.name = "parallel_region";
  kernel.summary = "Time to start and end an OpenMP parallel region";
  kernel.paper = "Bull, Measuring Synchronisation and Scheduling Overheads in OpenMP, 1999";
  kernel.repetitions = "10";
  kernel.results = {{"region_s", Result::Type::real, "time per parallel region", "s"}};
  kernel.batched = true;
  kernel.small = {{"repetitions=2", "steps=3"}};
  kernel.plan = [](const Params&, const Shape& shape) {
    Plan plan;
    plan.memory_bytes = static_cast<double>(shape.ranks * shape.threads) * 8 * line;
    return plan;
  };
  kernel.setup = [](const Context& context) { return std::make_unique<ParallelRegion>(context); };
  return kernel;
}

}  // namespace halobench

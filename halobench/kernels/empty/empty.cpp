// SPDX-License-Identifier: BSD-3-Clause
// A kernel that does nothing: what is left is the cost of the harness itself.
#include "kernel.hpp"

namespace halobench {
namespace {

class Empty : public Instance {
 public:
  void step() override {}
  Verdict verify() override { return {}; }
  Work work() const override { return {}; }
  Json result(std::span<const Times> times) override {
    return Json::object().set("step_s", times[0].median());
  }
};

}  // namespace

Kernel empty() {
  Kernel kernel;
  kernel.name = "empty";
  kernel.summary = "Empty step, to measure the overhead of the harness";
  kernel.repetitions = "10";
  kernel.results = {{"step_s", Result::Type::real, "time per step", "s"}};
  kernel.batched = true;
  kernel.plan = [](const Params&, const Shape&) { return Plan{}; };
  kernel.setup = [](const Context&) { return std::make_unique<Empty>(); };
  return kernel;
}

}  // namespace halobench

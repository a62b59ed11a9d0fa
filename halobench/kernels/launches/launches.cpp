// SPDX-License-Identifier: BSD-3-Clause
// Device kernels launched one after the other, with a synchronisation after the first and without:
// the cost of launches that do not overlap with the work of the first kernel. Zhang, Mills
// and Smith 2020, section 6 and figure 15.
#include <array>

#include "kernel.hpp"
#include "kernels/launches/on_device.hpp"
#include "kernels/memory/memory.hpp"

namespace halobench {
namespace {

constexpr std::int64_t value_bytes = 2 * sizeof(std::uint64_t);  ///< of a value: read and written
constexpr std::array names{"pipelined", "synchronised"};         ///< its points

/// The parameters of a case.
struct Settings {
  std::int64_t size;
  Chain::Setting chain;
  MemorySettings memory;
};

Settings parse_settings(const Params& params) {
  const auto size = params.integer("size");
  return {size,
          {params.integer("kernels"), size / value_bytes, params.integer("first")},
          parse_device(params)};
}

class Launches : public Instance {
 public:
  Launches(const Context& context, const Settings& settings)
      : comm_(context.comm),
        executes_(context.meter.executes()),
        size_(settings.size),
        device_(chosen_device(context, settings.memory)),
        chain_(make_chain(*device_, context.meter, context.memory, settings.chain)) {}

  std::size_t points() const override { return names.size(); }

  void select(std::size_t point) override { waits_first_ = point == 1; }

  void prepare() override {
    runs_ = 0;
    if (executes_) chain_->set(++round_);
  }

  void step() override {
    ++runs_;
    chain_->run(waits_first_);
  }

  Verdict verify() override {
    const bool good = !executes_ || chain_->is_right(runs_, waits_first_);
    if (comm_.all(good)) return {};
    return {std::string(names[waits_first_ ? 1 : 0]) + ": values are wrong or late"};
  }

  Work work() const override { return {chain_->bytes(), 0, 0}; }

  std::string device() const override { return device_->name(); }

  Json point(std::size_t point, const Times& times) override {
    return Json::object()
        .set("size_bytes", size_)
        .set("operation", names[point])
        .set("result", Json::object().set("chain_s", times.median()));
  }

  Json result(std::span<const Times> times) override {
    return Json::object()
        .set("pipelined_s", times[0].median())
        .set("synchronised_s", times[1].median());
  }

 private:
  const Communicator& comm_;
  bool executes_;
  std::int64_t size_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Chain> chain_;
  bool waits_first_ = false;
  std::int64_t round_ = 0;
  std::int64_t runs_ = 0;
};

Plan plan_launches(const Params& params, const Shape& shape) {
  Plan plan;
  const auto [size, chain, memory] = parse_settings(params);
  if (size % value_bytes != 0) {
    plan.problems.push_back(
        {"size", std::to_string(size), "not a multiple of 16 bytes; give a multiple of 16"});
  }
  plan.device_bytes =
      static_cast<double>(shape.ranks * chain.first * chain.values) * sizeof(std::uint64_t);
  plan.memory_bytes = 2 * plan.device_bytes;  // and what the host compares with
  plan_memory(memory, plan);
  return plan;
}

}  // namespace

Kernel launches() {
  using enum Parameter::Type;
  Kernel kernel;
  kernel.name = "launches";
  kernel.summary = "Chains of device kernels, with and without waiting for the first kernel";
  kernel.paper = "anl-petsc-summit-part2, section 6, figure 15";
  kernel.parameters = {
      {"kernels", integer, "5", "number of device kernels per chain", "", 2, 1000},
      {"size", integer, "4194304", "bytes that each kernel reads and writes", "B", value_bytes,
       static_cast<double>(std::int64_t{1} << 33)},
      {"first", integer, "8",
       "work of the first kernel, as a multiple of the work of each other kernel", "", 1, 1000},
  };
  for (auto& one : device_parameters()) kernel.parameters.push_back(std::move(one));
  kernel.results = {{"pipelined_s", Result::Type::real,
                     "time of the chain if all kernels are launched without waiting", "s"},
                    {"synchronised_s", Result::Type::real,
                     "time of the chain if the second kernel is launched after the first has "
                     "finished",
                     "s"}};
  kernel.point_results = {
      {"chain_s", Result::Type::real,
       "time from the first launch to the end of the last kernel, median over repetitions", "s"}};
  kernel.repetitions = "20";
  kernel.warmup = "2";
  kernel.sweeps = true;
  kernel.batched = true;
  kernel.small = {{"size=1600", "first=3", "repetitions=2", "steps=3", "gpus_shared=1"}};
  kernel.plan = plan_launches;
  kernel.setup = [](const Context& context) {
    return std::make_unique<Launches>(context, parse_settings(context.params));
  };
  return kernel;
}

}  // namespace halobench

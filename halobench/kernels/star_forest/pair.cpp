// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/star_forest/pair.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/as_size.hpp"
#include "kernels/star_forest/parts.hpp"
#include "kernels/star_forest/space.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench {
namespace {

constexpr std::int64_t item = sizeof(double);

/// A root with its leaves on ranks 0 and 1, as a step changes them; also the model that answers
/// are compared with.
struct Star {
  double root;
  double own_leaf;
  double leaf;

  /// Sums in the order that a forest promises: the root's own rank first.
  void step(const PairTest& test) {
    if (!test.adds) {
      leaf = root;
      return;
    }
    leaf += root;
    if (test.local) own_leaf += root;
    if (test.local) root += own_leaf;
    root += leaf;
  }
};

/// The parameters of a case.
struct Settings {
  std::vector<std::int64_t> sizes;
  MemorySettings memory;
};

Settings parse_settings(const Params& params) {
  return {params.sizes("sizes"), parse_memory(params)};
}

class PairForest : public Instance {
 public:
  PairForest(const Context& context, const PairTest& test, const Settings& settings,
             const SpaceMaker& make_space)
      : comm_(context.comm),
        meter_(context.meter),
        space_(make_space(context.meter, context.memory)),
        parts_(*space_),
        test_(test),
        operation_(test.adds ? Operation::sum : Operation::replace),
        sizes_(settings.sizes) {
    const int rank = comm_.rank();
    for (const auto size : sizes_) {
      const auto count = size / item;
      const bool has_leaves = rank == 1 || (rank == 0 && test.local);
      std::vector<Root> edges(as_size(has_leaves ? count : 0));
      for (std::size_t i = 0; i < edges.size(); ++i) edges[i].index = static_cast<std::int64_t>(i);
      forests_.push_back(
          std::make_unique<StarForest>(comm_, *space_, rank == 0 ? count : 0, edges));
    }
    const auto most = std::ranges::max(sizes_) / item;
    const auto allocate = [&](bool needed) {
      return space_->allocate<double>(needed ? most : 0, Pages::ordinary);
    };
    roots_ = allocate(rank == 0 || test.two_buffers);
    leaves_ = allocate(rank == 1 || (rank == 0 && (test.local || test.two_buffers)));
    PairForest::select(0);
  }

  std::size_t points() const override { return sizes_.size(); }

  void select(std::size_t point) override {
    forest_ = forests_[point].get();
    count_ = sizes_[point] / item;
  }

  /// New values every time: a message left over from before is not taken for a new one.
  void prepare() override {
    ++round_;
    steps_ = 0;
    if (!meter_.executes() || comm_.rank() > 1) return;
    const bool first = comm_.rank() == 0;
    if (test_.two_buffers) {
      set(roots_, [&](std::int64_t i) { return first ? start(i).root : start(i).leaf; });
      set(leaves_, [](std::int64_t) { return -1.0; });
      return;
    }
    if (first) set(roots_, [&](std::int64_t i) { return start(i).root; });
    if (first && test_.local) set(leaves_, [&](std::int64_t i) { return start(i).own_leaf; });
    if (!first) set(leaves_, [&](std::int64_t i) { return start(i).leaf; });
  }

  void step() override {
    ++steps_;
    const auto unit = Unit::of<double>();
    // With two buffers, what was received is never sent: both ranks send one and receive the other.
    double* roots = roots_.data();
    double* leaves = leaves_.data();
    forest_->bcast_begin(unit, roots, leaves, operation_);
    forest_->bcast_end(unit, roots, leaves, operation_);
    if (test_.two_buffers) std::swap(roots, leaves);
    forest_->reduce_begin(unit, leaves, roots, operation_);
    forest_->reduce_end(unit, leaves, roots, operation_);
  }

  void complete() override { space_->synchronise(); }

  std::vector<StepPart> parts() const override { return parts_.all(); }

  void run_part(std::size_t part) override {
    double* roots = roots_.data();
    double* leaves = leaves_.data();
    parts_.run(
        *forest_, part, {roots, leaves, operation_},
        test_.two_buffers ? Arrays{leaves, roots, operation_} : Arrays{roots, leaves, operation_});
  }

  /// What the timed steps left; then one step from new values, for sums that grew beyond all
  /// numbers.
  Verdict verify() override {
    bool good = all_are_right();
    meter_.count(false);
    prepare();
    step();
    meter_.count(true);
    good &= all_are_right();
    if (comm_.all(good)) return {};
    return {"values of " + std::to_string(count_ * item) + " bytes are wrong"};
  }

  Work work() const override {
    const auto there = forest_->bcast_sent();
    const auto back = forest_->reduce_sent();
    const auto added = static_cast<double>(test_.adds ? there.units + back.units : 0);
    const bool adds_here = test_.local && comm_.rank() == 0;
    return {static_cast<double>(item * (there.units + back.units)),
            added + (adds_here ? 2.0 * static_cast<double>(count_) : 0.0),
            static_cast<double>(there.messages + back.messages)};
  }

  std::string device() const override { return space_->device_name(); }

  Json point(std::size_t point, const Times& times) override {
    return Json::object()
        .set("size_bytes", sizes_[point])
        .set("operation", Json())
        .set("shape", shape_record(comm_, *forests_[point], operation_, operation_))
        .set("result", Json::object().set("latency_s", 0.5 * times.median()));
  }

  Json result(std::span<const Times> times) override {
    const auto smallest = std::ranges::min_element(sizes_) - sizes_.begin();
    return Json::object().set("latency_s", 0.5 * times[as_size(smallest)].median());
  }

 private:
  /// Whole numbers, different for every index and round.
  Star start(std::int64_t i) const {
    const auto n = static_cast<double>(3 * i) + static_cast<double>(round_);
    return {n + 1, n + 2, n + 3};
  }

  Star after_steps(std::int64_t i) const {
    auto star = start(i);
    for (std::int64_t step = 0; step < steps_; ++step) {
      const auto before = star.root;
      star.step(test_);
      if (star.root == before) break;  // nothing changes any more
    }
    return star;
  }

  template <class Make>
  void set(const SpaceArray<double>& array, Make&& value) {
    fill(*space_, array, count_, value);
  }

  template <class Make>
  bool all_are(const SpaceArray<double>& array, Make&& value) const {
    bool good = true;
    visit(*space_, array, count_, [&](std::int64_t i, double found) { good &= found == value(i); });
    return good;
  }

  bool all_are_right() const {
    if (!meter_.executes() || comm_.rank() > 1) return true;
    const bool first = comm_.rank() == 0;
    if (test_.two_buffers) {
      return all_are(leaves_,
                     [&](std::int64_t i) { return first ? start(i).leaf : start(i).root; });
    }
    if (!first) return all_are(leaves_, [&](std::int64_t i) { return after_steps(i).leaf; });
    return all_are(roots_, [&](std::int64_t i) { return after_steps(i).root; }) &&
           (!test_.local ||
            all_are(leaves_, [&](std::int64_t i) { return after_steps(i).own_leaf; }));
  }

  const Communicator& comm_;
  Meter& meter_;
  std::unique_ptr<Space> space_;
  ForestParts parts_;
  PairTest test_;
  Operation operation_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::unique_ptr<StarForest>> forests_;  ///< one a point
  SpaceArray<double> roots_;                          ///< with two buffers: what is sent
  SpaceArray<double> leaves_;                         ///< with two buffers: what is received
  StarForest* forest_ = nullptr;
  std::int64_t count_ = 0;
  std::int64_t round_ = 0;
  std::int64_t steps_ = 0;
};

Plan plan_pair(const PairTest& test, const Params& params) {
  Plan plan;
  const auto [sizes, memory] = parse_settings(params);
  for (const auto size : sizes) {
    if (size % item == 0) continue;
    plan.problems.push_back(
        {"sizes", std::to_string(size), "not a multiple of 8 bytes; give multiples of 8"});
  }
  const double arrays = test.two_buffers ? 4 : (test.local ? 3 : 2);
  const auto all = std::accumulate(sizes.begin(), sizes.end(), 0.0);  // each with its own buffers
  plan.memory_bytes =
      arrays * static_cast<double>(std::ranges::max(sizes)) + (test.adds ? 2 * all : 0.0);
  if (memory.on_device) plan.device_bytes = plan.memory_bytes;
  if (memory.staged()) plan.memory_bytes += 4 * all;  // on both sides, each way
  plan_memory(memory, plan);
  return plan;
}

}  // namespace

Kernel pair_kernel(const PairTest& test, const SpaceMaker& make_space) {
  Kernel kernel;
  kernel.name = test.name;
  kernel.summary = test.summary;
  kernel.paper = std::string("anl-petsc-summit-part2, section ") + test.section;
  kernel.parameters = {{"sizes", Parameter::Type::sizes, "8:4M",
                        "message size in each direction (8 bytes per root)", "B", double{item},
                        static_cast<double>(std::int64_t{1} << 33)}};
  // What is sent with two buffers is what prepare() has set, long before.
  for (auto& one : memory_parameters(test.two_buffers, true)) {
    kernel.parameters.push_back(std::move(one));
  }
  kernel.results = {
      {"latency_s", Result::Type::real, "half the time per step at the smallest size", "s"}};
  kernel.point_results = {
      {"latency_s", Result::Type::real, "half the time per step, median over repetitions", "s"}};
  kernel.repetitions = "20";
  kernel.warmup = "2";
  kernel.sweeps = true;
  kernel.batched = true;
  kernel.has_parts = true;
  kernel.least_ranks = 2;
  kernel.small = small_in_memories(
      {"sizes=8,1K,64K", "repetitions=2", "steps=20", "warmup=0", "parts=yes", "timeline=9"},
      {"sizes=8,64K", "repetitions=2", "steps=3", "warmup=0", "timeline=9"}, test.two_buffers);
  kernel.small.push_back({"sizes=64", "repetitions=1", "steps=1", "parts=yes", "memory=device",
                          "mpi=staged", "sync=default_stream", "device_lag=until_waited"});
  kernel.plan = [test](const Params& params, const Shape&) { return plan_pair(test, params); };
  kernel.setup = [test, make_space](const Context& context) {
    const auto settings = parse_settings(context.params);
    return std::make_unique<PairForest>(
        context, test, settings, make_space ? make_space : chosen_memory(context, settings.memory));
  };
  return kernel;
}

}  // namespace halobench

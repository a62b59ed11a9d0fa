// SPDX-License-Identifier: BSD-3-Clause
// C = A + B for three-dimensional arrays that live on rank 0: scattered, added, gathered, with
// collectives only. M. Celoria, Report for Assignment 1 of Foundations of High Performance
// Computing, 2021, section 1.B.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/as_size.hpp"
#include "kernel.hpp"
#include "kernels/sum3d/layout.hpp"
#include "mpi/pattern.hpp"

namespace halobench {
namespace {

/// Between the whole array on rank 0 and every rank's elements of it.
class Distributor {
 public:
  virtual ~Distributor() = default;
  virtual void scatter(const double* whole, double* own) const = 0;
  virtual void gather(const double* own, double* whole) const = 0;
};

/// Ranks take what lies next in memory: MPI_Scatterv and MPI_Gatherv, as in the report.
class Contiguous : public Distributor {
 public:
  Contiguous(const Communicator& comm, std::vector<int> counts)
      : comm_(comm), counts_(std::move(counts)), offsets_(counts_.size()) {
    std::exclusive_scan(counts_.begin(), counts_.end(), offsets_.begin(), 0);
  }

  void scatter(const double* whole, double* own) const override {
    check(MPI_Scatterv(whole, counts_.data(), offsets_.data(), MPI_DOUBLE, own, own_count(),
                       MPI_DOUBLE, 0, comm_.handle()),
          "MPI_Scatterv");
  }

  void gather(const double* own, double* whole) const override {
    check(MPI_Gatherv(own, own_count(), MPI_DOUBLE, whole, counts_.data(), offsets_.data(),
                      MPI_DOUBLE, 0, comm_.handle()),
          "MPI_Gatherv");
  }

 private:
  int own_count() const { return counts_[as_size(comm_.rank())]; }

  const Communicator& comm_;
  std::vector<int> counts_;
  std::vector<int> offsets_;
};

/// Ranks take blocks: a derived type for each, and MPI_Alltoallw, the one collective that lets
/// every rank's type differ. Only rank 0 has anything to scatter, and only it gathers.
class Blocks : public Distributor {
 public:
  Blocks(const Communicator& comm, const SumLayout& layout)
      : comm_(comm), places_(as_size(comm.size())) {
    const auto ranks = places_.size();
    whole_.counts.assign(ranks, 0);
    whole_.types.assign(ranks, MPI_DOUBLE);
    own_ = whole_;
    own_.counts[0] = layout.counts(comm.size())[as_size(comm.rank())];
    if (comm.rank() != 0) return;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto block = layout.block(static_cast<std::int64_t>(rank));
      if (block[0].size() * block[1].size() * block[2].size() == 0)
        continue;  // no type may be empty
      whole_.counts[rank] = 1;
      whole_.types[rank] = block_type(layout.size, block);
    }
  }

  ~Blocks() override {
    for (auto& type : whole_.types) {
      if (type != MPI_DOUBLE) MPI_Type_free(&type);
    }
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  void scatter(const double* whole, double* own) const override { move(whole, whole_, own, own_); }
  void gather(const double* own, double* whole) const override { move(own, own_, whole, whole_); }

 private:
  struct Side {
    std::vector<int> counts;
    std::vector<MPI_Datatype> types;
  };

  static MPI_Datatype block_type(const Extents& size, const std::array<Range, 3>& block) {
    std::array<int, 3> sizes{};
    std::array<int, 3> counts{};
    std::array<int, 3> firsts{};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      sizes[i] = message_count(size[i]);
      counts[i] = message_count(block[i].size());
      firsts[i] = message_count(block[i].begin);
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_Type_create_subarray(3, sizes.data(), counts.data(), firsts.data(), MPI_ORDER_C,
                                   MPI_DOUBLE, &type),
          "MPI_Type_create_subarray");
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    return type;
  }

  void move(const double* from, const Side& sent, double* to, const Side& received) const {
    check(MPI_Alltoallw(from, sent.counts.data(), places_.data(), sent.types.data(), to,
                        received.counts.data(), places_.data(), received.types.data(),
                        comm_.handle()),
          "MPI_Alltoallw");
  }

  const Communicator& comm_;
  std::vector<int> places_;  ///< all 0: the types know where they begin
  Side whole_;
  Side own_;
};

/// Element `i` of array `which`, from 0 to 1.
double random_element(int which, std::int64_t i) {
  return static_cast<double>(pattern_seed({which, i}) >> 11) * 0x1p-53;
}

class Sum3D : public Instance {
 public:
  Sum3D(const Context& context, const SumLayout& layout)
      : comm_(context.comm, {layout.topology.begin(), layout.topology.end()}),
        meter_(context.meter),
        scatter_(context.meter.phase("scatter")),
        add_(context.meter.phase("add")),
        gather_(context.meter.phase("gather")),
        layout_(layout),
        counts_(layout.counts(comm_.size())),
        count_(counts_[as_size(comm_.rank())]) {
    if (layout.distribution == Distribution::subblock) {
      distributor_ = std::make_unique<Blocks>(comm_, layout);
    } else {
      distributor_ = std::make_unique<Contiguous>(comm_, counts_);
    }
    elements_ = comm_.rank() == 0 ? layout.elements : 0;
    for (auto& array : whole_) array = context.memory.allocate<double>(elements_);
    for (auto& array : own_) array = context.memory.allocate<double>(count_);
    for (std::int64_t i = 0; meter_.executes() && i < elements_; ++i) {
      whole_[0][as_size(i)] = random_element(0, i);
      whole_[1][as_size(i)] = random_element(1, i);
    }
  }

  /// The result of the last step does not pass for that of the next.
  void prepare() override {
    if (!meter_.executes()) return;
    std::ranges::fill(whole_[2].span(), -1.0);
    for (auto& array : own_) std::ranges::fill(array.span(), -1.0);
  }

  void step() override {
    const auto& [whole_a, whole_b, whole_c] = whole_;
    const auto& [a, b, c] = own_;
    meter_.communicate(scatter_, [&] {
      distributor_->scatter(whole_a.data(), a.data());
      distributor_->scatter(whole_b.data(), b.data());
    });
    meter_.compute(add_, traffic(), [&] {
#pragma omp parallel for simd
      for (int i = 0; i < count_; ++i) c[as_size(i)] = a[as_size(i)] + b[as_size(i)];
    });
    meter_.communicate(gather_, [&] { distributor_->gather(c.data(), whole_c.data()); });
  }

  Verdict verify() override {
    const auto& [a, b, c] = whole_;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; meter_.executes() && i < elements_; ++i) {
      wrong += c[as_size(i)] != a[as_size(i)] + b[as_size(i)] ? 1 : 0;
    }
    wrong = comm_.sum(wrong);
    if (wrong == 0) return {};
    return {std::to_string(wrong) + " of " + std::to_string(layout_.elements) +
            " elements of C are not A + B"};
  }

  /// Of the additions; what is communicated, 16 bytes an element out and 8 back, is not in it.
  Work work() const override { return {traffic().bytes, traffic().flops, 0}; }

  Json result(std::span<const Times> times) override {
    return Json::object()
        .set("cycle_s", times[0].median())
        .set("elements", layout_.elements)
        .set("elements_per_rank", counts_);
  }

 private:
  Traffic traffic() const { return {24.0 * count_, 1.0 * count_, 24.0 * count_, 8.0 * count_}; }

  Communicator comm_;  ///< with the virtual topology
  Meter& meter_;
  Phase& scatter_;
  Phase& add_;
  Phase& gather_;
  SumLayout layout_;
  std::vector<int> counts_;  ///< elements of each rank
  int count_;
  std::unique_ptr<Distributor> distributor_;
  std::int64_t elements_ = 0;            ///< of the whole array; 0 but on rank 0
  std::array<Buffer<double>, 3> whole_;  ///< A, B, C
  std::array<Buffer<double>, 3> own_;
};

Plan plan_sum3d(const Params& params, const Shape& shape) {
  Plan plan;
  const auto layout = parse_sum_layout(params, shape.ranks, plan.problems);
  plan.memory_bytes = 2.0 * 3.0 * sizeof(double) * static_cast<double>(layout.elements);
  plan.choices["topology"] = to_string(layout.topology);
  return plan;
}

std::vector<Parameter> parameters() {
  using enum Parameter::Type;
  return {
      {"size", text, "240x100x100", "elements along x, y, and z"},
      {"topology", text, "1d",
       "grid of ranks along x, y, and z, such as 4x3x2; 1d, 2d, or 3d: the most even grid of that "
       "dimension"},
      Parameter::one_of(
          "distribution", "balanced",
          "elements sent to each rank. balanced: an equal number of contiguous elements (a = 0 in "
          "the published report); topology: as many contiguous elements as are in the rank's block "
          "(a = 1 in the report); subblock: the block itself, sent with derived datatypes",
          {"balanced", "topology", "subblock"}),
  };
}

}  // namespace

Kernel sum3d() {
  using enum Result::Type;
  Kernel kernel;
  kernel.name = "sum3d";
  kernel.summary =
      "Sum of two 3-D arrays: rank 0 scatters them, all ranks add, and rank 0 gathers the sum";
  kernel.paper = "orfeo-mpi-report, section 1.B";
  kernel.parameters = parameters();
  kernel.results = {
      {"cycle_s", real, "time of one scatter, sum, and gather, median over repetitions", "s"},
      {"elements", integer, "elements per array"},
      {"elements_per_rank", integers, "elements per rank"}};
  kernel.repetitions = "10";
  kernel.warmup = "1";
  kernel.batched = true;
  kernel.small = {{"size=23x7x5", "topology=3d", "repetitions=2", "steps=3"}};
  kernel.plan = plan_sum3d;
  kernel.setup = [](const Context& context) {
    std::vector<Problem> none;  // the plan has already refused bad layouts
    return std::make_unique<Sum3D>(context,
                                   parse_sum_layout(context.params, context.comm.size(), none));
  };
  return kernel;
}

}  // namespace halobench

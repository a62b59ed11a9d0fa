// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrix times vector, rows over ranks: the irregular neighbourhood communication of
// Zhang, Mills and Smith 2020, section 5.4, with the three schemes of its figure 12.
#include "kernels/spmv/spmv.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "base/as_size.hpp"
#include "kernel.hpp"
#include "kernels/spmv/answer.hpp"
#include "kernels/spmv/distributed_csr.hpp"
#include "kernels/spmv/on_device.hpp"
#include "kernels/spmv/source.hpp"
#include "kernels/star_forest/space.hpp"
#include "numerics/hash.hpp"

namespace halobench {
namespace {

constexpr std::int64_t pieces = 16;  ///< of a worker's rows, shared out as threads become free

/// Whole numbers from 1 to 64, so that sums of products with whole numbers are exact.
double mixed(std::int64_t i) { return static_cast<double>(1 + hash(i, 0) % 64); }
double mixed_otherwise(std::int64_t i) { return static_cast<double>(1 + hash(i, 1) % 64); }
double one(std::int64_t /*i*/) { return 1; }

class Spmv : public Instance {
 public:
  Spmv(const Context& context, const SpmvSettings& settings, const SpaceMaker& make_space)
      : comm_(context.comm),
        meter_(context.meter),
        settings_(settings),
        source_(make_source(context, settings_)),
        matrix_(context, *source_.rows, make_begins(context, settings_, source_),
                settings_.shared_columns ? Columns::shared : Columns::stored, make_space),
        answer_(context.memory, *source_.rows, matrix_),
        x_(context.memory.allocate<double>(counts().rows)),
        y_(context.memory.allocate<double>(counts().rows)),
        ghosts_(context.memory.allocate<double>(counts().ghosts)) {
    if (auto* space = matrix_.space().on_device()) {
      on_device_ = products_on_device(*space, matrix_, !z_unused());
    } else if (!z_unused()) {
      z_ = context.memory.allocate<double>(counts().coupled);
    }
    const bool concurrent = !on_device_ && !z_unused() && meter_.threads() > 1 && !simulated();
    begin_ = &meter_.phase("begin");
    if (concurrent) {
      concurrent_ = &meter_.phase("concurrent");
    } else {
      diagonal_ = &meter_.phase("diagonal");
      end_ = &meter_.phase("end");
      off_diagonal_ = &meter_.phase("off_diagonal");
    }
    if (!z_unused()) add_ = &meter_.phase("add");
    check_other_products();
  }

  /// Another x each time, so that ghosts of the time before are wrong.
  void prepare() override {
    ++round_;
    set_x(mixed, scale());
  }

  void step() override {
    meter_.communicate(*begin_, [&] { forest().bcast_begin(unit_, own(), others()); });
    if (concurrent_ != nullptr) {
      both_products_at_once();
    } else if (settings_.overlap == Overlap::none) {
      end();
      diagonal_product();
      off_diagonal_product();
    } else {
      diagonal_product();
      end();
      off_diagonal_product();
    }
    if (add_ != nullptr) add_temporary();
  }

  void complete() override {
    if (on_device_) on_device_->synchronise();
  }

  Verdict verify() override {
    if (!meter_.executes()) return {};
    return {first_problem_.empty() ? compare(scale()) : first_problem_};
  }

  Work work() const override {
    return {product_bytes(), flops(counts().diagonal + counts().off_diagonal),
            static_cast<double>(matrix_.forest().bcast_sent().messages)};
  }

  std::string device() const override { return matrix_.space().device_name(); }

  Json result(std::span<const Times> times) override {
    const double seconds = times[0].median();
    const auto own = counts().diagonal + counts().off_diagonal;
    const auto nonzeros = comm_.sum(own);
    return Json::object()
        .set("product_flops_per_s", flops(nonzeros) / seconds)
        .set("product_bytes_per_s", comm_.sum(product_bytes()) / seconds)
        .set("rows", source_.rows->rows())
        .set("nonzeros", nonzeros)
        .set("nonzeros_of_a_rank", comm_.max(static_cast<double>(own)))
        .set("off_diagonal", comm_.sum(counts().off_diagonal))
        .set("ghosts", comm_.sum(counts().ghosts))
        .set("ghosts_of_a_rank", comm_.max(static_cast<double>(counts().ghosts)))
        .set("bytes_per_nonzero", comm_.sum(product_bytes()) / static_cast<double>(nonzeros));
  }

 private:
  const CsrCounts& counts() const { return matrix_.counts(); }
  StarForest& forest() { return matrix_.forest(); }
  bool z_unused() const { return settings_.overlap != Overlap::split_temporary; }
  double scale() const { return std::ldexp(1.0, static_cast<int>(round_ % 8)); }
  static double flops(std::int64_t nonzeros) { return 2 * static_cast<double>(nonzeros); }

  /// What the forest takes: the device's, if there is one.
  const double* own() const { return on_device_ ? on_device_->x() : x_.data(); }
  double* others() const { return on_device_ ? on_device_->ghosts() : ghosts_.data(); }

  void end() {
    meter_.communicate(*end_, [&] { forest().bcast_end(unit_, own(), others()); });
  }

  /// On a device, what a phase takes is what it takes to launch.
  void diagonal_product() {
    if (on_device_) {
      return meter_.communicate(*diagonal_, [&] { on_device_->diagonal(diagonal_traffic()); });
    }
    meter_.compute(*diagonal_, diagonal_traffic(), [&] {
      for_each_worker([&](const WorkerRows& worker) { multiply_diagonal(worker.rows); });
    });
  }

  void multiply_diagonal(Range rows) {
    if (settings_.shared_columns) {
      multiply(matrix_.shared_diagonal(), rows, x_.data(), y_.data());
    } else {
      multiply(matrix_.diagonal(), rows, x_.data(), y_.data());
    }
  }

  /// Into y, or into the temporary.
  void off_diagonal_product() {
    if (on_device_) {
      return meter_.communicate(*off_diagonal_,
                                [&] { on_device_->off_diagonal(off_diagonal_traffic()); });
    }
    meter_.compute(*off_diagonal_, off_diagonal_traffic(), [&] {
      const auto block = matrix_.off_diagonal();
      for_each_worker([&](const WorkerRows& worker) {
        if (z_unused()) {
          multiply_add(block, matrix_.coupled_rows(), worker.coupled, ghosts_.data(), y_.data());
        } else {
          multiply(block, worker.coupled, ghosts_.data(), z_.data());
        }
      });
    });
  }

  /// The first thread waits for the messages and has the off-diagonal block; the others, and it
  /// too when it is done, have the diagonal one.
  void both_products_at_once() {
    auto traffic = diagonal_traffic();
    traffic.bytes += off_diagonal_traffic().bytes;
    traffic.flops += off_diagonal_traffic().flops;
    traffic.stored_bytes += off_diagonal_traffic().stored_bytes;
    const auto& workers = matrix_.workers();
    const auto all = std::ssize(workers) * pieces;
    meter_.compute(*concurrent_, traffic, [&] {
#pragma omp parallel
      {
        if (omp_get_thread_num() == 0) {
          forest().bcast_end(unit_, x_.data(), ghosts_.data());
          multiply(matrix_.off_diagonal(), {0, counts().coupled}, ghosts_.data(), z_.data());
        }
#pragma omp for schedule(dynamic, 1)
        for (std::int64_t piece = 0; piece < all; ++piece) {
          const auto& rows = workers[as_size(piece / pieces)].rows;
          multiply_diagonal(share(rows, pieces, piece % pieces));
        }
      }
    });
  }

  void add_temporary() {
    if (on_device_) {
      return meter_.communicate(*add_, [&] { on_device_->add(add_traffic()); });
    }
    meter_.compute(*add_, add_traffic(), [&] {
      for_each_worker([&](const WorkerRows& worker) {
        scatter_add(matrix_.coupled_rows(), worker.coupled, z_.data(), y_.data());
      });
    });
  }

  /// Values and columns, where rows begin, x and y.
  Traffic diagonal_traffic() const {
    return traffic(counts().diagonal, diagonal_bytes(), counts().rows);
  }

  /// Shared columns: their lists once, and instead of where rows begin where their lists do.
  double diagonal_bytes() const {
    const auto& has = counts();
    if (!settings_.shared_columns) return 12.0 * number(has.diagonal) + 24.0 * number(has.rows);
    return 8.0 * number(has.diagonal) + 20.0 * number(has.rows) + 4.0 * number(has.lists);
  }

  /// Values and columns, where rows begin, ghosts, and y (read, written, and its place) or z.
  Traffic off_diagonal_traffic() const {
    const double row = z_unused() ? 28.0 : 16.0;
    return traffic(counts().off_diagonal,
                   12.0 * number(counts().off_diagonal) + row * number(counts().coupled) +
                       8.0 * number(counts().ghosts),
                   counts().coupled);
  }

  Traffic add_traffic() const {
    auto found = traffic(0, 28.0 * number(counts().coupled), counts().coupled);
    found.flops = number(counts().coupled);
    return found;
  }

  /// rows: of the result, that are written.
  Traffic traffic(std::int64_t nonzeros, double bytes, std::int64_t rows) const {
    const double working_set =
        diagonal_bytes() + 12.0 * number(counts().off_diagonal) + 8.0 * number(counts().ghosts);
    return {bytes, flops(nonzeros), working_set, 8.0 * number(rows)};
  }

  double product_bytes() const {
    return diagonal_traffic().bytes + off_diagonal_traffic().bytes +
           (z_unused() ? 0 : add_traffic().bytes);
  }

  static double number(std::int64_t count) { return static_cast<double>(count); }

  template <class Body>
  void for_each_worker(Body&& body) const {
    const auto& workers = matrix_.workers();
#pragma omp parallel for schedule(static, 1)
    for (std::size_t worker = 0; worker < workers.size(); ++worker) body(workers[worker]);
  }

  void set_x(VectorAt x, double factor) {
    if (!meter_.executes()) return;
    const auto first = matrix_.rows().begin;
    for_each_worker([&](const WorkerRows& worker) {
      for (auto i = worker.rows.begin; i < worker.rows.end; ++i) {
        x_[as_size(i)] = factor * x(first + i);
        y_[as_size(i)] = -1;
      }
    });
    std::ranges::fill(ghosts_.span(), -1.0);
    if (on_device_) on_device_->set(x_.data(), y_.data(), ghosts_.data());
  }

  /// y, where the host reads it.
  const double* found() {
    if (on_device_) on_device_->fetch(y_.data());
    return y_.data();
  }

  /// Row sums (x = 1), u . A v = v . A u for a symmetric matrix, then what steps are to give.
  void check_other_products() {
    if (!meter_.executes()) return;
    meter_.count(false);
    set_x(one, 1);
    answer_.expect(one);
    step();
    first_problem_ = compare(1);
    if (first_problem_.empty() && source_.rows->symmetric()) first_problem_ = asymmetry();
    answer_.expect(mixed);
    meter_.count(true);
  }

  std::string compare(double factor) {
    const auto wrong = comm_.sum(answer_.wrong(found(), factor));
    return wrong == 0 ? "" : std::to_string(wrong) + " values of y are wrong";
  }

  std::string asymmetry() {
    const double one_way = product_with(mixed, mixed_otherwise);
    const double other_way = product_with(mixed_otherwise, mixed);
    const double allowed = source_.rows->whole() ? 0 : 1e-10 * std::abs(one_way);
    if (std::abs(one_way - other_way) <= allowed) return {};
    return "u.Av = " + Json(one_way).dump() + " and v.Au = " + Json(other_way).dump() +
           " of a symmetric matrix";
  }

  double product_with(VectorAt left, VectorAt right) {
    set_x(right, 1);
    step();
    const double* y = found();
    double sum = 0;
    for (std::int64_t i = 0; i < counts().rows; ++i) {
      sum += left(matrix_.rows().begin + i) * y[i];
    }
    return comm_.sum(sum);
  }

  const Communicator& comm_;
  Meter& meter_;
  const SpmvSettings settings_;
  Source source_;
  DistributedCsr matrix_;
  Answer answer_;
  Buffer<double> x_;
  Buffer<double> y_;
  Buffer<double> ghosts_;
  std::unique_ptr<ProductsOnDevice> on_device_;  ///< none where all is the host's
  Buffer<double> z_;  ///< what the off-diagonal block adds, where it does not go into y at once
  Phase* begin_ = nullptr;
  Phase* diagonal_ = nullptr;
  Phase* end_ = nullptr;
  Phase* off_diagonal_ = nullptr;
  Phase* concurrent_ = nullptr;  ///< in place of the three above
  Phase* add_ = nullptr;
  const Unit unit_ = Unit::of<double>();
  std::string first_problem_;
  std::int64_t round_ = 0;
};

/// Where products are launched before messages begin, these begin late.
SpaceMaker memory_of_products(const Context& context, const SpmvSettings& settings) {
  const bool late =
      settings.overlap == Overlap::early_launch || settings.overlap == Overlap::split_temporary;
  return chosen_memory(context, settings.memory, late);
}

}  // namespace

Kernel spmv() { return spmv_in({}); }

Kernel spmv_in(const SpaceMaker& make_space) {
  Kernel kernel;
  kernel.name = "spmv";
  kernel.summary =
      "Sparse matrix-vector product with irregular communication, with and without overlap";
  kernel.paper = "anl-petsc-summit-part2, section 5.4";
  kernel.parameters = spmv_parameters();
  {
    using enum Result::Type;
    const std::string timeless = "null if a simulated step takes no time";
    kernel.results = {
        {"product_flops_per_s", real,
         "floating-point rate: two operations per nonzero, divided by the median time", "1/s",
         timeless},
        {"product_bytes_per_s", real, "memory traffic of the algorithm, divided by the median time",
         "B/s", timeless},
        {"rows", integer, "number of rows of the matrix", "", "", 1},
        {"nonzeros", integer, "number of nonzeros of the matrix", "", "", 1},
        {"nonzeros_of_a_rank", real, "maximum number of nonzeros per rank"},
        {"off_diagonal", integer, "number of nonzeros in columns owned by other ranks"},
        {"ghosts", integer, "number of values needed from other ranks, summed over ranks"},
        {"ghosts_of_a_rank", real, "maximum number of ghosts per rank"},
        {"bytes_per_nonzero", real, "memory traffic of the algorithm per nonzero", "B", "", 0,
         1e9}};
  }
  kernel.repetitions = "20";
  kernel.warmup = "2";
  kernel.batched = true;
  kernel.small.clear();
  for (const std::string overlap : {"none", "split", "split_temporary", "early_launch"}) {
    const CaseArguments small{"n=7", "repetitions=2", "steps=3", "overlap=" + overlap};
    auto on_device = small;
    on_device.emplace_back("columns=stored");
    for (auto& one : small_in_memories(small, on_device, false)) {
      const bool on_host = std::ranges::find(one, "memory=host") != one.end();
      if (overlap != "early_launch" || !on_host) kernel.small.push_back(std::move(one));
    }
  }
  kernel.plan = plan_spmv;
  kernel.setup = [make_space](const Context& context) {
    const auto settings = parse_spmv(context.params);
    return std::make_unique<Spmv>(context, settings,
                                  make_space ? make_space : memory_of_products(context, settings));
  };
  return kernel;
}

}  // namespace halobench

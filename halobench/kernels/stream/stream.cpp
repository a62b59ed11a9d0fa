// SPDX-License-Identifier: BSD-3-Clause
// Memory bandwidth as STREAM counts it (J. D. McCalpin, 1995), by working set, so that caches show.
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>

#include "base/as_size.hpp"
#include "kernel.hpp"

namespace halobench {
namespace {

#ifdef __SSE2__
constexpr bool has_streaming_stores = true;
#else
constexpr bool has_streaming_stores = false;
#endif

constexpr std::int64_t line = 8;                ///< elements of a cache line
constexpr std::int64_t smallest_size = 3 * 64;  ///< bytes: one line of each array
constexpr double traffic_of_a_step = 4 << 20;   ///< bytes a thread: long against fork and join
constexpr double factor = 3.0;

struct Operation {
  const char* name;
  double arrays;   ///< read or written, once each: what STREAM counts
  double written;  ///< of these; a plain store reads its line first
  double flops;    ///< an element
};
constexpr std::array<Operation, 5> operations{{{"copy", 2, 1, 0},
                                               {"scale", 2, 1, 1},
                                               {"add", 3, 1, 1},
                                               {"triad", 3, 1, 2},
                                               {"dot", 2, 0, 2}}};
enum { copy, scale, add, triad, dot };

/// One thread's part of the three arrays: whole cache lines, none if there are more threads.
struct Slice {
  double* a;
  double* b;
  double* c;
  std::int64_t count;
};

// The inputs: fractions whose products and sums are exact, so that every result has one value.
double a_at(std::int64_t i) { return 1.0 + static_cast<double>(i % line) / 8.0; }
double b_at(std::int64_t i) { return 2.0 - static_cast<double>(i % line) / 8.0; }

double expected(int operation, std::int64_t i) {
  if (operation == copy) return a_at(i);
  if (operation == scale) return factor * a_at(i);
  if (operation == add) return a_at(i) + b_at(i);
  return a_at(i) + factor * b_at(i);
}

using Line = std::array<double, line>;

void stream_line(double* out, const Line& values) {
#ifdef __SSE2__
  for (int k = 0; k < line; k += 2) _mm_stream_pd(out + k, _mm_load_pd(values.data() + k));
#else
  std::ranges::copy(values, out);
#endif
}

/// out[i] = value(i); a streaming store does not read the line that it overwrites.
template <class Value>
void fill(double* out, std::int64_t count, bool streaming, Value&& value) {
  if (!streaming) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) out[i] = value(i);
    return;
  }
  for (std::int64_t i = 0; i < count; i += line) {
    alignas(64) Line values;
    for (int k = 0; k < line; ++k) values[as_size(k)] = value(i + k);
    stream_line(out + i, values);
  }
#ifdef __SSE2__
  _mm_sfence();
#endif
}

double inner_product(const double* a, const double* b, std::int64_t count) {
  constexpr int together = 4 * line;  // as many sums as hide the latency of an addition
  std::array<double, together> sums{};
  std::int64_t i = 0;
  for (; i + together <= count; i += together) {
#pragma omp simd
    for (int k = 0; k < together; ++k) sums[as_size(k)] += a[i + k] * b[i + k];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

/// One pass over a slice; the inner product, if that is the operation.
double pass(int operation, const Slice& slice, bool streaming) {
  const double* a = slice.a;
  const double* b = slice.b;
  const auto run = [&](auto value) { fill(slice.c, slice.count, streaming, value); };
  if (operation == copy) run([=](std::int64_t i) { return a[i]; });
  if (operation == scale) run([=](std::int64_t i) { return factor * a[i]; });
  if (operation == add) run([=](std::int64_t i) { return a[i] + b[i]; });
  if (operation == triad) run([=](std::int64_t i) { return a[i] + factor * b[i]; });
  return operation == dot ? inner_product(a, b, slice.count) : 0.0;
}

/// Cache lines of one array, for a working set of `size_bytes`.
std::int64_t lines(std::int64_t size_bytes) { return size_bytes / smallest_size; }

/// Elements that each thread owns: three slices of the largest working set.
std::int64_t owned_by_thread(std::int64_t largest_size_bytes, std::int64_t threads) {
  return 3 * line * ((lines(largest_size_bytes) + threads - 1) / threads);
}

/// The parameters of a case.
struct Settings {
  std::vector<std::int64_t> sizes;
  bool streaming;           ///< stores
  std::vector<int> chosen;  ///< indices of operations
};

Settings parse_settings(const Params& params) {
  Settings settings{params.sizes("sizes"), params.choice("stores") == "streaming", {}};
  const auto& chosen = params.choice("operation");
  for (int i = 0; i < std::ssize(operations); ++i) {
    if (chosen == "all" || chosen == operations[as_size(i)].name) settings.chosen.push_back(i);
  }
  return settings;
}

class Stream : public Instance {
 public:
  explicit Stream(const Context& context)
      : comm_(context.comm),
        meter_(context.meter),
        phase_(context.meter.phase("passes")),
        settings_(parse_settings(context.params)),
        threads_(context.meter.threads()) {
    stride_ = owned_by_thread(std::ranges::max(settings_.sizes), threads_);
    memory_ = context.memory.allocate<double>(stride_ * threads_);
    select(0);
  }

  std::size_t points() const override { return settings_.sizes.size() * settings_.chosen.size(); }

  void select(std::size_t point) override {
    size_bytes_ = settings_.sizes[point / settings_.chosen.size()];
    operation_ = settings_.chosen[point % settings_.chosen.size()];
    lines_ = lines(size_bytes_);
    passes_ = std::max(1, static_cast<int>(traffic_of_a_step / pass_bytes() * threads_));
  }

  /// Each thread writes its own slices, and so places them.
  void prepare() override {
    if (!meter_.executes()) return;
    for_each_slice([](const Slice& slice) {
      for (std::int64_t i = 0; i < slice.count; ++i) {
        slice.a[i] = a_at(i);
        slice.b[i] = b_at(i);
        slice.c[i] = -1.0;
      }
      return 0.0;
    });
    dot_ = -1.0;
  }

  void step() override {
    const Traffic traffic{passes_ * pass_traffic(), passes_ * pass_flops(), pass_bytes(),
                          passes_ * pass_stored()};
    meter_.compute(phase_, traffic, [this] {
      dot_ = for_each_slice([this](const Slice& slice) {
        double sum = 0;
        for (int i = 0; i < passes_; ++i) {
          std::atomic_signal_fence(std::memory_order_seq_cst);  // every pass reads memory again
          sum = pass(operation_, slice, settings_.streaming);
        }
        return sum;
      });
    });
  }

  Verdict verify() override {
    if (!meter_.executes()) return {};
    const bool good = operation_ == dot ? dot_ == expected_dot() : wrong_elements() == 0;
    if (comm_.all(good)) return {};
    return {std::string(operation().name) + ": wrong result at a working set of " +
            std::to_string(size_bytes_) + " bytes"};
  }

  Work work() const override { return {passes_ * pass_bytes(), passes_ * pass_flops(), 0}; }

  Json point(std::size_t point, const Times& times) override {
    select(point);
    return Json::object()
        .set("size_bytes", size_bytes_)
        .set("operation", operation().name)
        .set("passes", passes_)
        .set("result", Json::object()
                           .set("bytes_per_s", bytes_per_s(times))
                           .set("traffic_bytes", comm_.size() * passes_ * pass_traffic()));
  }

  Json result(std::span<const Times> times) override {
    Json out = Json::object();
    const auto largest = std::ranges::max_element(settings_.sizes) - settings_.sizes.begin();
    for (std::size_t i = 0; i < settings_.chosen.size(); ++i) {
      const auto point = as_size(largest) * settings_.chosen.size() + i;
      select(point);
      out.set(std::string(operation().name) + "_bytes_per_s", bytes_per_s(times[point]));
    }
    return out;
  }

 private:
  const Operation& operation() const { return operations[as_size(operation_)]; }
  double elements() const { return static_cast<double>(lines_ * line); }
  double pass_bytes() const { return operation().arrays * sizeof(double) * elements(); }
  /// With the lines that are read only to be overwritten.
  double pass_traffic() const {
    const double fetched = settings_.streaming ? 0 : operation().written;
    return (operation().arrays + fetched) * sizeof(double) * elements();
  }
  double pass_stored() const {
    const double moved = (settings_.streaming ? 1 : 2) * operation().written;
    return moved * sizeof(double) * elements();
  }
  double pass_flops() const { return operation().flops * elements(); }
  double bytes_per_s(const Times& times) const {
    return comm_.size() * passes_ * pass_bytes() / times.median();
  }

  /// `body` once for every thread's slice; the sum of what it returns.
  template <class Body>
  double for_each_slice(Body&& body) {
    double sum = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : sum)
    for (int thread = 0; thread < threads_; ++thread) {
      const auto count = line * (lines_ * (thread + 1) / threads_ - lines_ * thread / threads_);
      double* a = memory_.data() + thread * stride_;
      sum += body(Slice{a, a + count, a + 2 * count, count});
    }
    return sum;
  }

  double wrong_elements() {
    return for_each_slice([this](const Slice& slice) {
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < slice.count; ++i) wrong += slice.c[i] != expected(operation_, i);
      return static_cast<double>(wrong);
    });
  }

  double expected_dot() const {
    double sum_of_a_line = 0;
    for (int i = 0; i < line; ++i) sum_of_a_line += a_at(i) * b_at(i);
    return sum_of_a_line * static_cast<double>(lines_);
  }

  const Communicator& comm_;
  Meter& meter_;
  Phase& phase_;
  const Settings settings_;
  int threads_;
  std::int64_t stride_ = 0;  ///< elements from one thread's arrays to the next's
  Buffer<double> memory_;
  std::int64_t size_bytes_ = 0;
  int operation_ = copy;
  std::int64_t lines_ = 0;
  int passes_ = 1;
  double dot_ = 0;
};

Plan plan_stream(const Params& params, const Shape& shape) {
  Plan plan;
  const auto settings = parse_settings(params);
  if (settings.streaming && !has_streaming_stores) {
    plan.problems.push_back({"stores", "streaming", "only for x86-64 processors; give plain"});
  }
  const auto largest = std::ranges::max(settings.sizes);
  plan.memory_bytes = static_cast<double>(owned_by_thread(largest, shape.threads)) *
                      static_cast<double>(shape.threads * shape.ranks) * sizeof(double);
  return plan;
}

}  // namespace

Kernel stream() {
  using enum Parameter::Type;
  Kernel kernel;
  kernel.name = "stream";
  kernel.summary = "Memory bandwidth of copy, scale, add, triad, and dot, by working set";
  kernel.paper = "McCalpin, STREAM, 1995";
  kernel.parameters = {
      {"sizes", sizes, "16K:256M",
       "working set per rank, which is the total size of the three arrays. The largest working "
       "set should be at least four times the rank's share of the last-level cache",
       "B", smallest_size, 1e15},
      Parameter::one_of(
          "operation", "all",
          "loop to time: copy (c=a), scale (c=3a), add (c=a+b), triad (c=a+3b), or dot (a.b). "
          "Bytes are counted as in STREAM: 16 or 24 per element, without write-allocate traffic",
          {"all", "copy", "scale", "add", "triad", "dot"}),
      Parameter::one_of(
          "stores", "plain",
          "type of store instruction. plain: ordinary stores, which read a cache line before they "
          "write it; streaming: non-temporal stores, which are up to 1.5x faster for data in "
          "memory, but slower for data in cache",
          {"plain", "streaming"}),
  };
  for (const auto& one : operations) {
    kernel.results.push_back({std::string(one.name) + "_bytes_per_s", Result::Type::real,
                              std::string("bandwidth of ") + one.name +
                                  " at the largest working set, with bytes counted as in STREAM",
                              "B/s", "absent unless requested"});
  }
  kernel.point_results = {{"bytes_per_s", Result::Type::real,
                           "bandwidth from the median time, with bytes counted as in STREAM", "B/s",
                           "null if simulated loops take no time"},
                          {"traffic_bytes", Result::Type::real,
                           "memory traffic per step, including reads of cache lines that are "
                           "overwritten",
                           "B"}};
  kernel.repetitions = "10";
  kernel.sweeps = true;
  kernel.batched = true;
  kernel.small = {{"sizes=192,1000,64K", "repetitions=2", "steps=1"}};
  kernel.plan = plan_stream;
  kernel.setup = [](const Context& context) { return std::make_unique<Stream>(context); };
  return kernel;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "machine/meter.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/median.hpp"

namespace halobench {

void Meter::reset() {
  for (auto& phase : phases_) phase = Phase{phase.name, phase.slowness};
}

void Meter::settle() {
  const auto due = std::exchange(due_, {});
  if (due.seconds > 0) {
    const double longer_s = compute_for(due.seconds, due.memory_bytes, setting_.threads);
    if (counting_ && longer_s > 0) {
      for (const auto& each : owed_) {
        each.phase->time_s += longer_s * each.memory_bytes / due.memory_bytes;
      }
    }
  }
  owed_.clear();
}

void Meter::charge_traced(Phase& phase, const Cost& cost) {
  settle();
  const double start_s = MPI_Wtime();
  const double before_s = phase.time_s;
  owe(cost, &phase);
  settle();
  keep(phase.name.c_str(), depth_, start_s, start_s + cost.seconds + phase.time_s - before_s);
}

void Meter::trace_begin(std::size_t most) {
  spans_.clear();
  spans_.reserve(most);
  most_spans_ = most;
  tracing_ = true;
}

std::vector<Span> Meter::trace_end() {
  tracing_ = false;
  auto all = std::exchange(spans_, {});
  if (!streams_.traced) return all;
  auto streams = streams_.traced();
  std::ranges::stable_sort(streams, {}, &Span::begin_s);
  if (streams.size() > most_spans_) streams.resize(most_spans_);
  all.insert(all.end(), streams.begin(), streams.end());
  return all;
}

void Meter::require_no_work_left() const {
  if (!streams_.waited_for || streams_.waited_for()) return;
  throw std::logic_error(
      "the clock stopped before the device was done: time ends in Instance::complete(), which "
      "must wait for every stream that a step has given work to");
}

Meter::Mark Meter::mark() {
  settle();
  return {MPI_Wtime(), phases_};
}

void Meter::repeat_since(const Mark& mark, double times, const Communicator& comm) {
  settle();
  const double now_s = MPI_Wtime();
  const double mean_s = comm.sum(now_s - mark.time_s) / comm.size();
  const double end_s = now_s + times * mean_s;  // without the time to agree on that
  pass_time(std::max(0.0, end_s - MPI_Wtime()));
  for (std::size_t i = 0; i < mark.phases.size(); ++i) {
    auto& phase = phases_[i];
    const auto& before = mark.phases[i];
    phase.calls += std::llround(times * static_cast<double>(phase.calls - before.calls));
    phase.time_s += times * (phase.time_s - before.time_s);
    phase.bytes += times * (phase.bytes - before.bytes);
    phase.flops += times * (phase.flops - before.flops);
    phase.model_s += times * (phase.model_s - before.model_s);
  }
}

std::vector<double> Meter::times_s() const {
  std::vector<double> times_s;
  for (const auto& phase : phases_) times_s.push_back(phase.time_s);
  return times_s;
}

// Of all phases at once: two reductions, however many there are, and two for medians.
Json Meter::summary(const Communicator& comm, double steps,
                    std::span<const double> repetitions_s) const {
  if (phases_.empty()) return Json::array();  // SMPI fails at sums of nothing
  std::vector<double> sums, highest;
  for (const auto& phase : phases_) {
    const double time_s = phase.time_s / steps;
    sums.insert(sums.end(), {time_s, phase.bytes / steps, phase.flops / steps});
    highest.insert(highest.end(), {time_s, -time_s, phase.model_s / steps});
  }
  comm.sum_untimed(sums);
  comm.max_untimed(highest);
  const auto by_rank = times_by_rank(comm, steps);
  auto medians_s = medians(comm, repetitions_s);
  Json out = Json::array();
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    const std::span<const double, 3> sum(&sums[3 * i], 3), most(&highest[3 * i], 3);
    const auto calls = std::llround(static_cast<double>(phases_[i].calls) / steps);
    Json time = Json::object();
    time.set("min", -most[1]).set("mean", sum[0] / comm.size()).set("max", most[0]);
    const bool computes = sum[1] + sum[2] > 0;
    Json phase = Json::object()
                     .set("name", phases_[i].name)
                     .set("calls", static_cast<std::int64_t>(calls))
                     .set("time_s", time)
                     .set("bytes", sum[1])
                     .set("flops", sum[2])
                     .set("model_s", setting_.model && computes ? Json(most[2]) : Json());
    if (!medians_s.empty()) phase.set("median_s", std::move(medians_s[i]));
    if (computes && !by_rank.empty()) {
      Json seconds = Json::array();
      for (std::size_t at = i; at < by_rank.size(); at += phases_.size()) seconds.push(by_rank[at]);
      phase.set("by_rank_s", seconds);
    }
    out.push(phase);
  }
  return out;
}

// Over repetitions, of what the ranks took in each: the least of them, their mean, and the most.
std::vector<Json> Meter::medians(const Communicator& comm,
                                 std::span<const double> repetitions_s) const {
  if (repetitions_s.empty()) return {};
  std::vector<double> sums(repetitions_s.begin(), repetitions_s.end()), highest = sums;
  for (const double time_s : repetitions_s) highest.push_back(-time_s);
  comm.sum_untimed(sums);
  comm.max_untimed(highest);
  const std::span<const double> most(highest);
  std::vector<Json> out;
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    const auto median = [&](std::span<const double> all) {
      std::vector<double> own;
      for (std::size_t at = i; at < all.size(); at += phases_.size()) own.push_back(all[at]);
      return median_of(std::move(own));
    };
    out.push_back(Json::object()
                      .set("min", -median(most.subspan(sums.size())))
                      .set("mean", median(sums) / comm.size())
                      .set("max", median(most.first(sums.size()))));
  }
  return out;
}

// Of every rank, all phases; on rank 0, and for real: simulated ranks compute alike.
std::vector<double> Meter::times_by_rank(const Communicator& comm, double steps) const {
  if (simulated() || comm.size() == 1) return {};
  std::vector<double> own, all;
  for (const auto& phase : phases_) own.push_back(phase.time_s / steps);
  if (comm.rank() == 0) all.resize(own.size() * static_cast<std::size_t>(comm.size()));
  const int phases = message_count(static_cast<std::int64_t>(own.size()));
  check(
      MPI_Gather(own.data(), phases, MPI_DOUBLE, all.data(), phases, MPI_DOUBLE, 0, comm.handle()),
      "MPI_Gather");
  return all;
}

}  // namespace halobench

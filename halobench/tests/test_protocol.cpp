// SPDX-License-Identifier: BSD-3-Clause
// The protocol, by the calls that an instance gets, on a clock of the test's own: a busy machine
// changes nothing.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/as_size.hpp"
#include "expect.hpp"
#include "protocol.hpp"
#include "timeline.hpp"

using halobench::as_size;
using halobench::Communicator;
using halobench::Json;
using halobench::Meter;
using halobench::Synchronisation;
using halobench::Times;
using halobench::Verdict;
using halobench::Work;

namespace {

constexpr double tick_s = 0x1p-26;  ///< 15 ns
double clock_s = 0;                 ///< of this rank

void pass(double seconds) { clock_s += seconds; }

int late_starts = 0;  ///< of this rank, to come: it takes long to hear of a start

}  // namespace

// In place of the library's own. Time passes where it is read and in pass(), nowhere else.
extern "C" double MPI_Wtime() { return clock_s += tick_s; }

// Likewise: a round's start is announced by a broadcast.
extern "C" int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const int code = PMPI_Bcast(buffer, count, type, root, comm);
  if (late_starts > 0) {
    --late_starts;
    pass(5e-3);
  }
  return code;
}

namespace {

/// Writes down what is asked of it: s0 s1 (select), p (prepare), . (step), v (verify).
class Recorder : public halobench::Instance {
 public:
  Recorder(Meter& meter, std::size_t points)
      : meter_(meter), phase_(meter.phase("step")), points_(points) {}

  std::size_t points() const override { return points_; }
  void select(std::size_t point) override {
    point_ = point;
    calls += "s" + std::to_string(point);
  }
  void prepare_for(std::int64_t steps) override {
    calls += "p";
    announced_ = steps;
  }
  void step() override {
    --announced_;
    meter_.compute(phase_, {}, [&] {
      calls += ".";
      pass(step_s + std::exchange(interruption_s, 0.0));
    });
  }
  Verdict verify() override {
    calls += "v ";
    expect::equal(announced_, 0);  // as many steps as prepare_for() was given
    return verifications < verdicts.size() ? verdicts[verifications++] : Verdict{};
  }
  std::int64_t usual_steps() const override { return usual; }
  Work work() const override { return {8.0 * (static_cast<double>(point_) + 1), 1, 2}; }
  Json result(std::span<const Times>) override { return Json::object(); }

  std::vector<halobench::StepPart> parts() const override { return {{"a", true}, {"b", goes_on}}; }
  void run_part(std::size_t part) override {
    meter_.compute(phase_, {}, [&] { pass(step_s); });
    if (calls.back() != names[part]) calls += names[part];
  }

  const std::string names = "ab";
  std::string calls;
  double step_s = 0;
  double interruption_s = 0;  ///< of the next step
  std::int64_t usual = 0;
  bool goes_on = false;  ///< what its last part gives a device
  std::vector<Verdict> verdicts;
  std::size_t verifications = 0;

 private:
  Meter& meter_;
  halobench::Phase& phase_;
  std::size_t points_;
  std::int64_t announced_ = 0;  ///< steps that prepare_for() announced and that did not come yet
  std::size_t point_ = 0;
};

struct Bench {
  Meter meter{{}};
  Recorder recorder;
  explicit Bench(std::size_t points = 1) : recorder(meter, points) {}
};

void every_repetition_is_prepared_warmed_up_timed_and_verified(const Communicator& comm) {
  Bench bench;
  const auto measured = measure(comm, bench.recorder, bench.meter, {3, 2, 4});
  expect::equal(bench.recorder.calls, "s0p..p....v s0p..p....v s0p..p....v ");
  expect::equal(measured.points.size(), 1U);
  expect::equal(measured.points[0].steps, 4);
  expect::equal(measured.points[0].seconds.size(), 3U);
  expect::equal(measured.times_s.size(), 3U);
  expect::equal(measured.timed_steps, 12.0);
  expect::equal(measured.reason, "");
}

void parts_are_timed_by_themselves(const Communicator& comm) {
  Bench bench(2);
  bench.recorder.step_s = 2e-3;
  halobench::Protocol protocol{2, 0, 1};
  expect::equal(measure_parts(comm, bench.recorder, bench.meter, protocol).size(), 0U);
  protocol.parts = true;
  bench.recorder.calls.clear();
  const auto parts = measure_parts(comm, bench.recorder, bench.meter, protocol);
  expect::equal(bench.recorder.calls, "s0s1s0p.as0p.bs1p.as1p.bs0p.as0p.bs1p.as1p.b");
  expect::equal(parts.size(), 4U);
  expect::equal(parts[3].point, 1U);
  expect::equal(parts[3].name, "b");
  expect::equal(parts[3].times.steps, 1);
  expect::equal(parts[3].times.seconds.size(), 2U);
  expect::contains(bench.meter.summary(comm, 1).dump(), R"("name":"step","calls":0)");
}

/// A clock that stops before a device was waited for gives a time that is too short: of a step in
/// either synchronisation, of a part unless it goes on, and in a timeline.
void time_does_not_end_before_the_device(const Communicator& comm) {
  constexpr const char* why = "the clock stopped before the device was done";
  bool waited_for = true;
  Bench bench;
  bench.meter.follow({[] { return std::vector<halobench::Span>(); }, [&] { return waited_for; }});
  std::string reason;
  const auto all = [&](Synchronisation synchronisation) {
    measure(comm, bench.recorder, bench.meter, {1, 0, 1, synchronisation});
  };
  using enum Synchronisation;
  for (const auto synchronisation : {barrier, round_time}) all(synchronisation);
  timeline(comm, bench.recorder, bench.meter, 3, reason);
  waited_for = false;
  for (const auto synchronisation : {barrier, round_time}) {
    expect::throws<std::logic_error>([&] { all(synchronisation); }, why);
  }
  expect::throws<std::logic_error>([&] { timeline(comm, bench.recorder, bench.meter, 3, reason); },
                                   why);
  halobench::Protocol protocol{1, 0, 1};
  protocol.parts = true;
  const auto parts = [&] { measure_parts(comm, bench.recorder, bench.meter, protocol); };
  bench.recorder.goes_on = true;
  parts();
  bench.recorder.goes_on = false;
  expect::throws<std::logic_error>(parts, why);
}

void a_timeline_has_every_rank_and_is_checked(const Communicator& comm) {
  Bench bench(2);
  bench.recorder.verdicts = {{""}, {"it is wrong"}};
  std::string reason;
  const auto text = timeline(comm, bench.recorder, bench.meter, 3, reason).dump();
  expect::equal(bench.recorder.calls, "s0p.p.v s1p.p.v ");
  expect::equal(reason, "it is wrong");
  expect::contains(bench.meter.summary(comm, 1).dump(), R"("name":"step","calls":0)");
  if (comm.rank() != 0) return;
  std::size_t spans = 0;
  for (auto at = text.find("[\"step\",0,"); at != std::string::npos; ++spans) {
    at = text.find("[\"step\",0,", at + 1);
  }
  expect::equal(spans, 2 * as_size(comm.size()));
  expect::equal(timeline(comm, bench.recorder, bench.meter, 0, reason).dump(), "[]");
}

void without_warm_up_it_is_prepared_once(const Communicator& comm) {
  Bench bench;
  measure(comm, bench.recorder, bench.meter, {2, 0, 1});
  expect::equal(bench.recorder.calls, "s0p.v s0p.v ");
}

void a_repetition_passes_over_all_points(const Communicator& comm) {
  Bench bench(3);
  const auto measured = measure(comm, bench.recorder, bench.meter, {2, 0, 1});
  expect::equal(bench.recorder.calls, "s0p.v s1p.v s2p.v s0p.v s1p.v s2p.v ");
  expect::equal(measured.points.size(), 3U);
  expect::equal(measured.work[2].bytes, 24.0);
  expect::equal(measured.work[0].bytes, 8.0);
  for (std::size_t i = 0; i < 2; ++i) {
    expect::near(measured.times_s[i], measured.points[0].seconds[i] +
                                          measured.points[1].seconds[i] +
                                          measured.points[2].seconds[i]);
  }
}

void a_benchmarks_own_steps_are_taken(const Communicator& comm) {
  Bench bench;
  bench.recorder.usual = 3;
  measure(comm, bench.recorder, bench.meter, {1, 0, 0});
  expect::equal(bench.recorder.calls, "s0s0p...v ");
  Bench reported;
  reported.recorder.usual = 3;
  measure(comm, reported.recorder, reported.meter, {1, 0, 2});
  expect::equal(reported.recorder.calls, "s0p..v ");
}

void a_late_round_is_run_again(const Communicator& comm) {
  Bench bench;
  const auto measured =
      measure(comm, bench.recorder, bench.meter, {20, 0, 0, Synchronisation::round_time});
  const auto& rounds = measured.rounds;
  expect::equal(measured.points[0].steps, 1);
  expect::equal(measured.points[0].seconds.size(), 20U);
  expect::equal(rounds.late_s[0].size(), 20U);
  expect::equal(measured.timed_steps, 20.0 + static_cast<double>(rounds.repeated));
  std::string calls = bench.recorder.calls;
  for (std::size_t at = 0; (at = calls.find("p.p.")) != std::string::npos;) calls.erase(at, 2);
  std::string expected = "s0";
  for (int i = 0; i < 20; ++i) expected += "s0p.v ";
  expect::equal(calls, expected);
  expect::equal(std::ranges::count(bench.recorder.calls, '.'),
                20 + static_cast<std::ptrdiff_t>(rounds.repeated));
}

void a_round_is_tried_again_until_none_is_late(const Communicator& comm) {
  halobench::Protocol protocol{1, 0, 0, Synchronisation::round_time};
  Bench bench;
  late_starts = comm.rank() == comm.size() - 1 ? 3 : 0;
  const auto measured = measure(comm, bench.recorder, bench.meter, protocol);
  expect::is_true(measured.rounds.repeated >= 3, "three rounds were late");
  late_starts = comm.rank() == 0 ? 10 : 0;
  const auto late = measure(comm, bench.recorder, bench.meter, protocol);
  expect::equal(late.rounds.repeated, 9);
  expect::is_true(late.rounds.any_late, "the tenth is kept, and said to be late");
  late_starts = 0;
}

void a_round_lasts_until_the_last_rank_has_ended(const Communicator& comm) {
  Bench bench;
  bench.recorder.step_s = 1e-3 * (comm.rank() + 1);
  const auto measured =
      measure(comm, bench.recorder, bench.meter, {3, 0, 2, Synchronisation::round_time});
  for (const double seconds : measured.points[0].seconds) {
    expect::equal(seconds, comm.max(seconds));
    const double shortest = 1e-3 * comm.size() - measured.rounds.clock_error_s;
    expect::is_true(seconds >= shortest, "no rank's time is left out");
  }
}

void the_slowest_rank_decides_how_many_steps_are_enough(const Communicator& comm) {
  Bench bench;
  bench.recorder.step_s = comm.rank() == comm.size() - 1 ? 1e-3 : 0;
  const auto measured = measure(comm, bench.recorder, bench.meter, {2, 0, 0});
  expect::equal(bench.recorder.calls, "s0p..s0p.v s0p.v ");  // the faster of two runs counts
  expect::equal(measured.points[0].steps, 1);
}

void an_interrupted_run_is_not_taken_for_a_long_one(const Communicator& comm) {
  Bench bench;
  bench.recorder.interruption_s = 5e-3;
  const auto measured = measure(comm, bench.recorder, bench.meter, {1, 0, 0});
  expect::is_true(measured.points[0].steps > 1, "a step takes next to nothing");
}

void short_steps_are_doubled(const Communicator& comm) {
  Bench bench(2);
  const auto measured = measure(comm, bench.recorder, bench.meter, {1, 1, 0});
  for (const auto& point : measured.points) {
    expect::is_true(std::has_single_bit(static_cast<std::uint64_t>(point.steps)),
                    std::to_string(point.steps) + " is not a power of two");
    expect::is_true(
        comm.all(static_cast<double>(point.steps) == comm.max(static_cast<double>(point.steps))),
        "every rank takes the same number of steps");
  }
}

void a_time_is_the_slowest_ranks_and_a_steps(const Communicator& comm) {
  Bench bench;
  bench.recorder.step_s = 1e-3 * (comm.rank() + 1);
  const auto measured = measure(comm, bench.recorder, bench.meter, {1, 0, 3});
  const double seconds = measured.points[0].seconds[0];
  expect::equal(seconds, comm.max(seconds));
  expect::is_true(seconds >= 1e-3 * comm.size(), "no rank's time is left out");
  bench.recorder.step_s = 5e-6;
  const auto many = measure(comm, bench.recorder, bench.meter, {1, 0, 1000});
  expect::is_true(many.points[0].seconds[0] < 2.5e-3, "a time is that of one step, not of all");
}

void only_timed_steps_enter_the_phases(const Communicator& comm) {
  Bench bench;
  const auto measured = measure(comm, bench.recorder, bench.meter, {2, 3, 5});
  expect::equal(measured.timed_steps, 10.0);
  expect::contains(bench.meter.summary(comm, 1).dump(), R"("calls":10,)");
  Bench searching;
  searching.recorder.step_s = 1e-3;
  measure(comm, searching.recorder, searching.meter, {2, 0, 0});
  expect::contains(searching.meter.summary(comm, 1).dump(), R"("calls":2,)");
}

void phases_are_kept_by_repetition(const Communicator& comm) {
  Bench bench(2);
  bench.recorder.step_s = 1e-3;
  bench.recorder.interruption_s = 20e-3;  // of the one warm-up step: it is in no repetition
  const auto measured = measure(comm, bench.recorder, bench.meter, {3, 1, 2});
  expect::equal(measured.phases_s.size(), 3U);
  double steps_s = 0;
  for (const double time_s : measured.phases_s) {
    expect::is_true(time_s >= 1e-3, "a step's phase is as long as it lasts");
    steps_s += 4 * time_s;
  }
  expect::near(steps_s, bench.meter.times_s()[0]);
}

void rounds_run_again_are_in_no_repetition(const Communicator& comm) {
  Bench bench;
  bench.recorder.interruption_s = 0.4;  // of the first round, which is late
  late_starts = comm.rank() == comm.size() - 1 ? 3 : 0;
  const auto measured =
      measure(comm, bench.recorder, bench.meter, {1, 0, 1, Synchronisation::round_time});
  expect::is_true(measured.rounds.repeated >= 3, "three rounds were late");
  expect::equal(measured.phases_s.size(), 1U);
  expect::is_true(measured.phases_s[0] < 0.03, "the late rounds are left out");
  late_starts = 0;
}

void the_first_wrong_answer_is_kept(const Communicator& comm) {
  Bench bench(2);
  bench.recorder.verdicts = {{}, {"the first"}, {"the second"}, {}};
  const auto measured = measure(comm, bench.recorder, bench.meter, {3, 0, 1});
  expect::equal(measured.reason, "the first");
  expect::equal(measured.times_s.size(), 3U);
}

void medians_are_of_sorted_times() {
  expect::equal(Times{1, {3, 1, 2}}.median(), 2.0);
  expect::equal(Times{1, {4, 1, 2, 10}}.median(), 3.0);
  expect::equal(Times{1, {7}}.median(), 7.0);
}

void means_have_a_deviation() {
  expect::near(Times{1, {2, 4, 4, 4, 5, 5, 7, 9}}.mean(), 5.0);
  expect::near(Times{1, {2, 4, 4, 4, 5, 5, 7, 9}}.deviation(), std::sqrt(32.0 / 7.0));
  expect::is_true(std::isnan(Times{1, {7}}.deviation()), "one repetition has none");
}

void the_timer_is_observed() {
  clock_s = 0;  // so that a tick is one to the last digit
  const auto timer = halobench::observe_timer();
  expect::near(timer.resolution_s, tick_s);
  expect::near(timer.cost_s, tick_s);
}

}  // namespace

int main(int argc, char** argv) {
  const halobench::Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  every_repetition_is_prepared_warmed_up_timed_and_verified(comm);
  parts_are_timed_by_themselves(comm);
  time_does_not_end_before_the_device(comm);
  a_timeline_has_every_rank_and_is_checked(comm);
  without_warm_up_it_is_prepared_once(comm);
  a_repetition_passes_over_all_points(comm);
  the_slowest_rank_decides_how_many_steps_are_enough(comm);
  an_interrupted_run_is_not_taken_for_a_long_one(comm);
  short_steps_are_doubled(comm);
  a_benchmarks_own_steps_are_taken(comm);
  a_late_round_is_run_again(comm);
  a_round_is_tried_again_until_none_is_late(comm);
  a_round_lasts_until_the_last_rank_has_ended(comm);
  a_time_is_the_slowest_ranks_and_a_steps(comm);
  only_timed_steps_enter_the_phases(comm);
  phases_are_kept_by_repetition(comm);
  rounds_run_again_are_in_no_repetition(comm);
  the_first_wrong_answer_is_kept(comm);
  medians_are_of_sorted_times();
  means_have_a_deviation();
  the_timer_is_observed();
  return expect::exit_code();
}

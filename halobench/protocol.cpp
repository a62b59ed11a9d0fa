// SPDX-License-Identifier: BSD-3-Clause
#include "protocol.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "mpi/shared_clock.hpp"

namespace halobench {
namespace {

constexpr double shortest_repetition_s = 1e-3;
constexpr double settling_s = 0.01;  ///< before simulated ranks start: a message takes less
constexpr double shortest_lead_s = 1e-5;
constexpr double longest_lead_s = 1e-3;
constexpr double timely_s = 1e-7;  ///< a start no later than this was on time
/// Of a case that launches and goes on: what its first step finds idle and what is waited for after
/// the last one count little.
constexpr std::int64_t simulated_device_steps = 50;
constexpr int most_rounds = 10;  ///< of one repetition, before a late start is kept

/// body(steps): so many, one after another.
template <class Body>
void run(Meter& meter, std::int64_t steps, Body&& body) {
  body(steps);
  meter.settle();
}

/// Runs steps of an instance until what they have begun is done.
auto steps_of(Instance& instance) {
  return [&instance](std::int64_t steps) {
    for (std::int64_t i = 0; i < steps; ++i) instance.step();
    instance.complete();
  };
}

/// Ranks leave a barrier one after the other, which counts little where steps are many. Simulated
/// ones, of which one step is enough and whose waiting takes no time, start at the same moment,
/// when no earlier message is under way.
void start_together(const Communicator& comm) {
  comm.barrier_untimed();
  if (simulated()) pass_time(settling_s);
}

template <class Body>
double run_after_barrier(const Communicator& comm, Meter& meter, std::int64_t steps, Body&& body) {
  start_together(comm);
  const double start_s = MPI_Wtime();
  run(meter, steps, body);
  double seconds = MPI_Wtime() - start_s;
  comm.max_untimed(std::span(&seconds, 1));
  return seconds;
}

/// Doubles until a repetition is long against the clock; all ranks agree on the slowest one's view,
/// which run_s(steps) is. The faster of two runs counts: one that was interrupted looks long.
template <class Run>
std::int64_t enough_steps(Run&& run_s) {
  for (std::int64_t steps = 1;; steps *= 2) {
    const double first_s = run_s(steps);
    const double second_s = run_s(steps);
    if (std::min(first_s, second_s) >= shortest_repetition_s) return steps;
  }
}

struct Round {
  double seconds;
  double late_s;  ///< the last rank's start after the announced time; 0 if on time
};

/// Starts rounds at common times of a shared clock.
class RoundTime {
 public:
  explicit RoundTime(const Communicator& comm) : comm_(comm), clock_(comm) {}

  Round run_at_common_time(Instance& instance, Meter& meter, std::int64_t steps) {
    clock_.synchronise();
    double start_s = clock_.now_s() + lead_s_ + 16 * clock_.error_s();
    check(MPI_Bcast(&start_s, 1, MPI_DOUBLE, 0, comm_.handle()), "MPI_Bcast");
    clock_.wait_until(start_s);
    const double late_s = clock_.now_s() - start_s;
    run(meter, steps, steps_of(instance));
    std::array observed{clock_.now_s() - start_s, late_s};
    comm_.max(observed);
    const bool late = observed[1] > timely_s + clock_.error_s();
    if (late) lead_s_ = std::min(2 * lead_s_, longest_lead_s);
    return {observed[0], late ? observed[1] : 0.0};
  }

  double clock_error_s() const { return clock_.error_s(); }

 private:
  const Communicator& comm_;
  SharedClock clock_;
  double lead_s_ = shortest_lead_s;  ///< from announcing a start to the start
};

class Measuring {
 public:
  Measuring(const Communicator& comm, Instance& instance, Meter& meter, const Protocol& protocol)
      : comm_(comm), instance_(instance), meter_(meter), protocol_(protocol), round_time_(comm) {}

  Measurement measure() {
    measured_.points.resize(instance_.points());
    measured_.work.resize(instance_.points());
    measured_.rounds.late_s.resize(instance_.points());
    for (std::size_t point = 0; point < instance_.points(); ++point) {
      measured_.points[point].steps = choose_steps(point);
    }
    meter_.reset();
    for (std::int64_t repetition = 0; repetition < protocol_.repetitions; ++repetition) {
      measured_.times_s.push_back(0);
      repetition_ = {};
      for (std::size_t point = 0; point < instance_.points(); ++point) repeat(point);
      for (const double time_s : repetition_.phases_s) {
        measured_.phases_s.push_back(time_s / repetition_.steps);
      }
    }
    return std::move(measured_);
  }

 private:
  std::int64_t choose_steps(std::size_t point) {
    if (protocol_.steps > 0) return protocol_.steps;
    if (simulated()) {  // all periods are alike
      return instance_.device().empty() ? instance_.period() : simulated_device_steps;
    }
    instance_.select(point);
    if (instance_.usual_steps() > 0) return instance_.usual_steps();
    if (protocol_.synchronisation == Synchronisation::round_time) return 1;
    instance_.prepare_for(1);  // the others find what these leave
    return enough_steps([&](std::int64_t steps) {
      return run_after_barrier(comm_, meter_, steps, steps_of(instance_));
    });
  }

  void repeat(std::size_t point) {
    auto& times = measured_.points[point];
    instance_.select(point);
    warm_up();
    const auto round = timely_round(times.steps);
    measured_.rounds.late_s[point].push_back(round.late_s);
    measured_.rounds.any_late |= round.late_s > 0;
    times.seconds.push_back(round.seconds / static_cast<double>(times.steps));
    measured_.times_s.back() += times.seconds.back();
    measured_.work[point] = instance_.work();
    const auto verdict = instance_.verify();
    if (measured_.reason.empty()) measured_.reason = verdict.reason;
  }

  void warm_up() {
    if (protocol_.warmup == 0) return;
    meter_.count(false);
    instance_.prepare_for(protocol_.warmup);
    run(meter_, protocol_.warmup, steps_of(instance_));
    meter_.count(true);
  }

  Round timely_round(std::int64_t steps) {
    for (int tries = 1;; ++tries) {
      instance_.prepare_for(steps);
      measured_.timed_steps += static_cast<double>(steps);
      const auto before_s = meter_.times_s();
      const auto round = one_round(steps);
      if (round.late_s <= 0 || tries == most_rounds) {
        keep_phases(before_s, steps);
        return round;
      }
      ++measured_.rounds.repeated;
    }
  }

  /// What phases have taken since `before_s`, in so many steps, is the repetition's.
  void keep_phases(const std::vector<double>& before_s, std::int64_t steps) {
    const auto now_s = meter_.times_s();
    repetition_.phases_s.resize(now_s.size());
    for (std::size_t i = 0; i < now_s.size(); ++i) {
      repetition_.phases_s[i] += now_s[i] - (i < before_s.size() ? before_s[i] : 0);
    }
    repetition_.steps += static_cast<double>(steps);
  }

  Round one_round(std::int64_t steps) {
    if (protocol_.synchronisation == Synchronisation::barrier) {
      const double seconds = run_after_barrier(comm_, meter_, steps, steps_of(instance_));
      meter_.require_no_work_left();
      return {seconds, 0};
    }
    const auto round = round_time_.run_at_common_time(instance_, meter_, steps);
    meter_.require_no_work_left();
    auto& error_s = measured_.rounds.clock_error_s;
    error_s = std::max(error_s, round_time_.clock_error_s());
    return round;
  }

  const Communicator& comm_;
  Instance& instance_;
  Meter& meter_;
  Protocol protocol_;
  RoundTime round_time_;
  Measurement measured_;
  struct {
    std::vector<double> phases_s;
    double steps = 0;
  } repetition_;  ///< under way: over its points
};

}  // namespace

Measurement measure(const Communicator& comm, Instance& instance, Meter& meter,
                    const Protocol& protocol) {
  return Measuring(comm, instance, meter, protocol).measure();
}

std::vector<PartTimes> measure_parts(const Communicator& comm, Instance& instance, Meter& meter,
                                     const Protocol& protocol) {
  std::vector<PartTimes> measured;
  std::vector<bool> goes_on;
  for (std::size_t point = 0; protocol.parts && point < instance.points(); ++point) {
    instance.select(point);
    for (auto& part : instance.parts()) {
      measured.push_back({point, std::move(part.name), {}});
      goes_on.push_back(part.goes_on);
    }
  }
  meter.count(false);
  for (std::int64_t repetition = 0; repetition < protocol.repetitions; ++repetition) {
    std::size_t number = 0;  // of the part at its point
    for (std::size_t i = 0; i < measured.size(); ++i) {
      auto& [point, name, times] = measured[i];
      number = i > 0 && measured[i - 1].point == point ? number + 1 : 0;
      instance.select(point);
      instance.prepare_for(1);
      instance.step();  // so that buffers hold values
      instance.complete();
      meter.settle();
      const auto run_s = [&](std::int64_t steps) {
        const double seconds = run_after_barrier(comm, meter, steps, [&](std::int64_t many) {
          for (std::int64_t step = 0; step < many; ++step) instance.run_part(number);
        });
        if (!goes_on[i]) meter.require_no_work_left();
        instance.complete();
        return seconds;
      };
      if (repetition == 0) times.steps = simulated() ? 1 : enough_steps(run_s);
      const double seconds = run_s(times.steps);
      times.seconds.push_back(seconds / static_cast<double>(times.steps));
    }
  }
  meter.count(true);
  return measured;
}

Timer observe_timer() {
  constexpr int calls = 1000;
  double resolution = std::numeric_limits<double>::infinity();
  const double start = MPI_Wtime();
  double last = start;
  for (int i = 0; i < calls; ++i) {
    const double now = MPI_Wtime();
    if (now > last) resolution = std::min(resolution, now - last);
    last = now;
  }
  return {resolution, (last - start) / calls};
}

}  // namespace halobench

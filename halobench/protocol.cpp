#include "protocol.hpp"

#include <mpi.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace halobench {
namespace {

constexpr double shortest_repetition_s = 1e-3;

double run(const Communicator& comm, Instance& instance, std::int64_t steps) {
  comm.barrier();
  const double start = MPI_Wtime();
  for (std::int64_t i = 0; i < steps; ++i) instance.step();
  return MPI_Wtime() - start;
}

/// Doubles until a repetition is long against the clock; all ranks agree on the slowest one's view.
std::int64_t enough_steps(const Communicator& comm, Instance& instance) {
  for (std::int64_t steps = 1;; steps *= 2) {
    const double seconds = comm.max(run(comm, instance, steps));
    if (seconds >= shortest_repetition_s || simulated()) return steps;
  }
}

void warm_up(Instance& instance, std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) instance.step();
}

}  // namespace

Measurement measure(const Communicator& comm, Instance& instance, Meter& meter,
                    const Protocol& protocol) {
  Measurement measured;
  measured.points.resize(instance.points());
  measured.work.resize(instance.points());
  for (std::size_t point = 0; point < instance.points(); ++point) {
    measured.points[point].steps = protocol.steps;
    if (protocol.steps > 0) continue;
    instance.select(point);
    instance.prepare();
    measured.points[point].steps = enough_steps(comm, instance);
  }
  meter.reset();
  for (std::int64_t repetition = 0; repetition < protocol.repetitions; ++repetition) {
    double total_s = 0;
    for (std::size_t point = 0; point < instance.points(); ++point) {
      auto& times = measured.points[point];
      instance.select(point);
      if (protocol.warmup > 0) {
        meter.count(false);
        instance.prepare();
        warm_up(instance, protocol.warmup);
        meter.count(true);
      }
      instance.prepare();
      const double seconds = comm.max(run(comm, instance, times.steps));
      times.seconds.push_back(seconds / static_cast<double>(times.steps));
      total_s += times.seconds.back();
      measured.timed_steps += static_cast<double>(times.steps);
      measured.work[point] = instance.work();
      const auto verdict = instance.verify();
      if (measured.reason.empty()) measured.reason = verdict.reason;
    }
    measured.times_s.push_back(total_s);
  }
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

// The measuring protocol: warm up, synchronise, repeat; raw times, verified answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel.hpp"

namespace halobench {

struct Protocol {
  std::int64_t repetitions = 1;
  std::int64_t warmup = 0;
  std::int64_t steps = 1;  ///< 0: found for each point, so that a repetition lasts a millisecond
};

struct Measurement {
  std::vector<Times> points;    ///< one a point
  std::vector<double> times_s;  ///< one a repetition: the sum over points of one step of each
  std::vector<Work> work;       ///< one a point: a step on this rank
  std::string reason;           ///< why the answer is wrong; empty if every one was good
  double timed_steps = 0;       ///< over all repetitions and points
};

/// Runs every repetition of every point. A repetition passes over all points, so that a slow drift
/// of the machine spreads over them. Each rank starts its clock after a barrier; a repetition's
/// time is the maximum over ranks. The answer is checked after each, outside the timed part.
Measurement measure(const Communicator& comm, Instance& instance, Meter& meter,
                    const Protocol& protocol);

/// MPI_Wtime's smallest observed step and the cost of a call, in seconds.
struct Timer {
  double resolution_s;
  double cost_s;
};
Timer observe_timer();

}  // namespace halobench

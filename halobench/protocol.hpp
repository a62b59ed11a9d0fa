// SPDX-License-Identifier: BSD-3-Clause
// The measuring protocol: warm up, synchronise, repeat; raw times, verified answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel.hpp"

namespace halobench {

/// How ranks start a repetition together, and what its time then is.
enum class Synchronisation {
  /// Each rank starts as it leaves a barrier. Time: the longest of the ranks' own times.
  barrier,
  /// All start at a time of the shared clock that rank 0 announces just before; a round that some
  /// rank began late is run again. Time: the last rank's end less the common start. (Round-Time of
  /// Hunold and Carpen-Amarie, CLUSTER 2018.)
  round_time,
};

struct Protocol {
  std::int64_t repetitions = 1;
  std::int64_t warmup = 0;
  std::int64_t steps = 1;  ///< 0: found for each point, see Instance::usual_steps
  Synchronisation synchronisation = Synchronisation::barrier;
  bool parts = false;  ///< of a step: timed too, see measure_parts()
};

/// What round_time adds to the times.
struct Rounds {
  double clock_error_s = 0;   ///< the largest there was
  std::int64_t repeated = 0;  ///< rounds run again because a rank began late
  /// A point's repetitions: the last rank's start after the announced time, if the last try was
  /// late too, else 0.
  std::vector<std::vector<double>> late_s;
  bool any_late = false;
};

struct Measurement {
  std::vector<Times> points;    ///< one a point
  std::vector<double> times_s;  ///< one a repetition: the sum over points of one step of each
  std::vector<Work> work;       ///< one a point: a step on this rank
  std::string reason;           ///< why the answer is wrong; empty if every one was good
  double timed_steps = 0;       ///< over all repetitions and points
  Rounds rounds;
  /// What each phase took on this rank in a step, one repetition after the other: of all points
  /// together, and without the rounds that were run again.
  std::vector<double> phases_s;
};

/// Runs every repetition of every point. A repetition passes over all points, so that a slow drift
/// of the machine spreads over them. The answer is checked after each, outside the timed part.
Measurement measure(const Communicator& comm, Instance& instance, Meter& meter,
                    const Protocol& protocol);

/// A part of a point's step, by itself.
struct PartTimes {
  std::size_t point;
  std::string name;
  Times times;  ///< of one run of the part, the maximum over ranks
};

/// Times every part of every point by itself, in runs of their own after those of the steps:
/// nothing of this is in the steps' times or phases. A repetition passes over all parts.
std::vector<PartTimes> measure_parts(const Communicator& comm, Instance& instance, Meter& meter,
                                     const Protocol& protocol);

/// MPI_Wtime's smallest observed step and the cost of a call, in seconds.
struct Timer {
  double resolution_s;
  double cost_s;
};
Timer observe_timer();

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Where the time of a step goes: phases, and what each should cost by the node model.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/record.hpp"
#include "base/simulation.hpp"
#include "machine/node_model.hpp"
#include "mpi/communicator.hpp"

namespace halobench {

/// One named part of a step, summed over its calls on this rank.
struct Phase {
  std::string name;
  double slowness = 1;  ///< of this node in it: a factor on what the node model says
  std::int64_t calls = 0;
  double time_s = 0;
  double bytes = 0;
  double flops = 0;
  double model_s = 0;
};

/// One call of a phase, or of a part of one: seconds of this rank's clock. Parts lie deeper than
/// the phase that they are in. Or what a stream of its device did, by the name of the call that
/// gave it to that.
struct Span {
  const char* name;
  int depth;
  double begin_s;
  double end_s;
  std::optional<int> stream = {};  ///< none of what the rank itself did
};

/// Wraps every part of a step. For real, it runs and times the part; under simulation it charges
/// the node model's time and runs the part only where the case needs real data.
class Meter {
 public:
  struct Setting {
    std::optional<NodeModel> model;
    int ranks_on_node = 1;
    int threads = 1;
    bool execute = true;                   ///< run the arithmetic; always true for real
    Slowness slowness{};                   ///< of this rank's node; always none for real
    std::optional<int> ranks_on_socket{};  ///< of this rank; none: as on the fullest
  };

  explicit Meter(Setting setting) : setting_(std::move(setting)) {}

  /// A phase to be kept by the kernel for the whole case; the reference stays valid.
  Phase& phase(std::string name) {
    const double slowness = setting_.slowness.of_phase(name);
    return phases_.emplace_back(Phase{std::move(name), slowness});
  }

  /// Runs `body`, which moves and computes `traffic` on this rank.
  template <class Body>
  void compute(Phase& phase, const Traffic& traffic, Body&& body) {
    auto modelled = cost(traffic);
    const double model_s = modelled.seconds;
    if (simulated()) {
      if (setting_.execute) body();
      modelled.seconds *= phase.slowness;
      add(phase, modelled.seconds, traffic, model_s);
      if (tracing_) return charge_traced(phase, modelled);
      owe(modelled, &phase);
      return;
    }
    const Inside inside(*this, phase.name.c_str());
    const double start = MPI_Wtime();
    if (setting_.execute) body();
    const double end = MPI_Wtime();
    add(phase, end - start, traffic, model_s);
    if (tracing_) inside.keep(start, end);
  }

  /// Runs `body`, which communicates: it takes the time it takes.
  template <class Body>
  void communicate(Phase& phase, Body&& body) {
    settle();
    const Inside inside(*this, phase.name.c_str());
    const double start = MPI_Wtime();
    body();
    if (simulated()) go_on();
    const double end = MPI_Wtime();
    add(phase, end - start, {}, 0.0);
    if (tracing_) inside.keep(start, end);
  }

  /// Runs `body`, which moves `traffic` within a phase: not timed by itself, and under simulation
  /// charged at once, so that what it is to overlap with does.
  template <class Body>
  void move(const Traffic& traffic, Body&& body) {
    if (setting_.execute) body();
    auto modelled = cost(traffic);
    modelled.seconds *= setting_.slowness.of_node();
    owe(modelled, nullptr);
    settle();
  }

  /// Runs `body`, a part of a phase that is too short to be timed in every step: only in a trace.
  template <class Body>
  void part(const char* name, Body&& body) {
    if (!tracing_) return body();
    const Inside inside(*this, name);
    const double start = MPI_Wtime();
    body();
    inside.keep(start, MPI_Wtime());
  }

  /// The call of a phase or a part that this rank is in; null where none is traced.
  const char* traced_call() const { return tracing_ ? call_ : nullptr; }

  /// Of this rank's device.
  struct Streams {
    /// All that they did while calls were traced, for which it waits; seconds of this rank's clock.
    std::function<std::vector<Span>()> traced;
    std::function<bool()> waited_for;  ///< has the host waited for all that they were given?
  };
  void follow(Streams streams) { streams_ = std::move(streams); }
  /// Called when a clock was stopped. Throws std::logic_error where a stream was given what nobody
  /// has waited for: the answer is right, as who reads it waits, but the time is too short.
  void require_no_work_left() const;

  /// From now on the first `most` calls of phases and parts are kept, until trace_end(), and as
  /// many of what streams do.
  void trace_begin(std::size_t most);
  /// What was kept, in the order in which it ended. Names are good as long as the phases.
  std::vector<Span> trace_end();

  /// Brings the simulated clock up to date: phases that follow each other are charged in one go.
  /// What they take longer for messages that share the node's memory is added to their times.
  void settle();

  /// Where this rank is: its clock, and what its phases have taken.
  struct Mark {
    double time_s;
    std::deque<Phase> phases;
  };
  Mark mark();
  /// All that was done since `mark` happens `times` more, at once, on the clock and in the phases.
  /// Every rank takes the mean of all ranks' times, so that they stay together. Collective, and
  /// only for simulated binaries.
  void repeat_since(const Mark& mark, double times, const Communicator& comm);

  bool executes() const { return setting_.execute; }
  /// The node model; none where nobody has given one.
  const std::optional<NodeModel>& model() const { return setting_.model; }
  int threads() const { return setting_.threads; }

  void reset();
  /// Warm-up steps are not counted.
  void count(bool counting) { counting_ = counting; }
  /// What each phase has taken on this rank since reset(), in the phases' order.
  std::vector<double> times_s() const;
  /// All phases, per step: time over ranks (min, mean, max), bytes and flops summed. Collective.
  /// `repetitions_s`: this rank's times of all phases in a step of each repetition, one repetition
  /// after the other; their medians are then written too.
  Json summary(const Communicator& comm, double steps,
               std::span<const double> repetitions_s = {}) const;

 private:
  /// That this rank is in a call.
  class Inside {
   public:
    Inside(Meter& meter, const char* name)
        : meter_(meter), before_(std::exchange(meter.call_, name)) {
      ++meter_.depth_;
    }
    ~Inside() {
      --meter_.depth_;
      meter_.call_ = before_;
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    void keep(double begin_s, double end_s) const {
      meter_.keep(meter_.call_, meter_.depth_ - 1, begin_s, end_s);
    }

   private:
    Meter& meter_;
    const char* before_;
  };

  std::vector<Json> medians(const Communicator& comm, std::span<const double> repetitions_s) const;
  std::vector<double> times_by_rank(const Communicator& comm, double steps) const;

  Cost cost(const Traffic& traffic) const {
    if (!setting_.model) return {};
    return setting_.model->cost(traffic, setting_.ranks_on_node, setting_.threads,
                                setting_.ranks_on_socket);
  }

  /// phase: whose time it is part of; null where it is none's.
  void owe(const Cost& cost, Phase* phase) {
    due_.seconds += cost.seconds;
    due_.memory_bytes += cost.memory_bytes;
    if (phase != nullptr && cost.memory_bytes > 0) owed_.push_back({phase, cost.memory_bytes});
  }

  /// An unbound rank's way back to a processor, once it has what it waited for.
  void go_on() const {
    const double resume_s = setting_.model ? setting_.model->resume_s() : 0.0;
    if (resume_s > 0) pass_time(resume_s);
  }

  /// By itself, and kept for the trace as long as it took.
  void charge_traced(Phase& phase, const Cost& cost);

  void keep(const char* name, int depth, double begin_s, double end_s) {
    if (spans_.size() < most_spans_) spans_.push_back({name, depth, begin_s, end_s});
  }

  void add(Phase& phase, double time_s, const Traffic& traffic, double model_s) const {
    if (!counting_) return;
    phase.calls += 1;
    phase.time_s += time_s;
    phase.bytes += traffic.bytes;
    phase.flops += traffic.flops;
    phase.model_s += model_s;
  }

  Setting setting_;
  bool counting_ = true;
  struct Owed {
    Phase* phase;
    double memory_bytes;
  };
  Cost due_;                ///< simulated computation that was not charged yet
  std::vector<Owed> owed_;  ///< the parts of it that messages can slow
  std::deque<Phase> phases_;
  bool tracing_ = false;
  int depth_ = 0;
  const char* call_ = nullptr;
  std::size_t most_spans_ = 0;
  std::vector<Span> spans_;
  Streams streams_;
};

}  // namespace halobench

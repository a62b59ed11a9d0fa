// Where the time of a step goes: phases, and what each should cost by the node model.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "machine/node_model.hpp"
#include "machine/simulation.hpp"
#include "mpi/communicator.hpp"
#include "record.hpp"

namespace halobench {

/// One named part of a step, summed over its calls on this rank.
struct Phase {
  std::string name;
  std::int64_t calls = 0;
  double time_s = 0;
  double bytes = 0;
  double flops = 0;
  double model_s = 0;
};

/// Wraps every part of a step. For real, it runs and times the part; under simulation it charges
/// the node model's time and runs the part only where the case asks for real data.
class Meter {
 public:
  struct Setting {
    std::optional<NodeModel> model;
    int ranks_on_node = 1;
    int threads = 1;
    bool execute = true;  ///< run the arithmetic; always true for real
  };

  explicit Meter(Setting setting) : setting_(std::move(setting)) {}

  /// A phase to be kept by the kernel for the whole case; the reference stays valid.
  Phase& phase(std::string name) { return phases_.emplace_back(Phase{std::move(name)}); }

  /// Runs `body`, which moves and computes `traffic` on this rank.
  template <class Body>
  void compute(Phase& phase, const Traffic& traffic, Body&& body) {
    const double model_s =
        setting_.model ? setting_.model->seconds(traffic, setting_.ranks_on_node, setting_.threads)
                       : 0.0;
    if (simulated()) {
      if (setting_.execute) body();
      due_s_ += model_s;
      add(phase, model_s, traffic, model_s);
      return;
    }
    const double start = MPI_Wtime();
    if (setting_.execute) body();
    add(phase, MPI_Wtime() - start, traffic, model_s);
  }

  /// Runs `body`, which communicates: it takes the time it takes.
  template <class Body>
  void communicate(Phase& phase, Body&& body) {
    settle();
    const double start = MPI_Wtime();
    body();
    add(phase, MPI_Wtime() - start, {}, 0.0);
  }

  /// Brings the simulated clock up to date: phases that follow each other are charged in one go.
  void settle() {
    if (due_s_ > 0) charge(due_s_);
    due_s_ = 0;
  }

  bool executes() const { return setting_.execute; }
  int threads() const { return setting_.threads; }

  void reset();
  /// Warm-up steps are not counted.
  void count(bool counting) { counting_ = counting; }
  /// All phases, per step: time over ranks (min, mean, max), bytes and flops summed. Collective.
  Json summary(const Communicator& comm, double steps) const;

 private:
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
  double due_s_ = 0;  ///< simulated time that was not charged yet
  std::deque<Phase> phases_;
};

}  // namespace halobench

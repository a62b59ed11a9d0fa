// SPDX-License-Identifier: BSD-3-Clause
// What a kernel is: a name, parameters, a plan that needs no launch, and an Instance to be timed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/params.hpp"
#include "base/record.hpp"
#include "base/result.hpp"
#include "machine/memory.hpp"
#include "machine/meter.hpp"
#include "mpi/communicator.hpp"

namespace halobench {

/// How many ranks and threads a case has; all a plan may know of the machine.
struct Shape {
  std::int64_t ranks = 1;
  std::int64_t threads = 1;
};

/// What a case will need, known before anything is launched.
struct Plan {
  double memory_bytes = 0;  ///< large arrays, summed over ranks
  std::vector<Problem> problems = {};
  double device_bytes = 0;  ///< of these, in the memory of devices
  Choices choices = {};     ///< parameters whose words leave something to the kernel: what it takes
  /// Why the case can't run on this machine, and what to do, though nothing is wrong with it; empty
  /// if it can.
  std::string absent = {};
};

/// What one step does, declared from the algorithm, on this rank; summed over ranks in the record.
struct Work {
  double bytes = 0;
  double flops = 0;
  double messages = 0;  ///< point-to-point messages sent
};

/// The answer's check. An empty reason is a good answer; the first reason found is recorded.
struct Verdict {
  std::string reason;
};

/// All that an Instance may use; it outlives the Instance.
struct Context {
  const Communicator& comm;
  const Params& params;
  Meter& meter;
  Memory& memory;
};

/// The times of one point of a sweep, one number a repetition: seconds of one step, maximum over
/// ranks, the same on every rank.
struct Times {
  std::int64_t steps = 0;  ///< steps timed together in a repetition
  std::vector<double> seconds;

  double median() const;
  double mean() const;
  double deviation() const;  ///< standard, of the sample; not a number for a single repetition
};

/// A part of a step that can run by itself.
struct StepPart {
  std::string name;
  bool goes_on =
      false;  ///< its device operations are not part of its time, and may still run at its end
};

/// A kernel set up on a communicator. A kernel that sweeps sizes inside one launch has several
/// points; all others have one.
class Instance {
 public:
  virtual ~Instance() = default;

  virtual std::size_t points() const { return 1; }
  /// Makes `point` the one that step() and verify() work on. Never timed.
  virtual void select(std::size_t /*point*/) {}
  /// Puts the data back to the start, before every repetition. Never timed.
  virtual void prepare() {}
  /// The same, for a kernel that prepares no more than the steps which follow will use.
  virtual void prepare_for(std::int64_t /*steps*/) { prepare(); }
  /// What is timed: the algorithm, and nothing else.
  virtual void step() = 0;
  /// Waits for what steps have begun and left to go on: the end of what is timed together.
  virtual void complete() {}
  /// Steps timed together at the selected point where a published benchmark fixes them; 0 leaves
  /// that to the protocol.
  virtual std::int64_t usual_steps() const { return 0; }
  /// Steps after which all is as at the first again: simulated steps are timed together in so many,
  /// where `steps` leaves that open.
  virtual std::int64_t period() const { return 1; }
  /// Compares the result of the last step with the known answer. Collective, never timed.
  virtual Verdict verify() = 0;
  /// One step of the selected point, on this rank; called after it ran.
  virtual Work work() const = 0;
  /// Parts of a step at the selected point. A model of the step is made from their times.
  virtual std::vector<StepPart> parts() const { return {}; }
  /// Runs one of them, after a step; what it leaves is not checked.
  virtual void run_part(std::size_t /*part*/) {}
  /// The device in whose memory it works, as a record names it; empty for the host's memory.
  virtual std::string device() const { return {}; }
  /// What identifies a point and what its times mean (size_bytes, result ...). Only for sweeps.
  virtual Json point(std::size_t /*point*/, const Times& /*times*/) { return Json::object(); }
  /// What the case found. Collective; `times` has one entry a point.
  virtual Json result(std::span<const Times> times) = 0;
};

/// Arguments of a case, each key=value.
using CaseArguments = std::vector<std::string>;

struct Kernel {
  Kernel();  // not inline, as the others: each kernel's declaration would have them
  Kernel(const Kernel& other);
  Kernel(Kernel&& other) noexcept;
  Kernel& operator=(const Kernel& other);
  Kernel& operator=(Kernel&& other) noexcept;
  ~Kernel();

  std::string name;
  std::string summary;
  std::string paper;  ///< the paper and section it comes from, or empty
  std::vector<Parameter> parameters;
  std::vector<Result> results = {};        ///< what Instance::result() has
  std::vector<Result> point_results = {};  ///< what the result of Instance::point() has
  std::string repetitions = "1";           ///< defaults of the protocol for this kernel
  std::string warmup = "0";
  std::string synchronisation = "barrier";
  bool sweeps = false;     ///< over points inside one launch, each with its own entry in the record
  bool batched = false;    ///< steps are short and alike: many are timed together
  bool has_parts = false;  ///< of a step, which can be timed each by itself
  std::int64_t least_ranks = 1;  ///< a case of fewer is refused
  /// Cases that take no time. Tests run each of them with every choice of the kernel's parameters,
  /// on 1 to 4 ranks.
  std::vector<CaseArguments> small = {{}};
  std::function<Plan(const Params&, const Shape&)> plan;  ///< of at least `least_ranks`
  std::function<std::unique_ptr<Instance>(const Context&)> setup;

  /// The kernel's own parameters, then those of the protocol.
  std::vector<Parameter> all_parameters() const;
  /// The kernel's own plan; on too few ranks that for the least, with the problem that they are too
  /// few.
  Plan plan_for(const Params& params, const Shape& shape) const;
};

/// What makes the kernels of this program, ended by null: kernel_list.cpp.
extern Kernel (*const kernel_makers[])();
/// As kernels.def has them, in the same order.
extern const char* const kernel_names[];

/// Throws UsageError, with what to do, where a kernel is not what `name` in kernels.def needs.
void require_whole(const Kernel& kernel, const std::string& name);

/// The kernels of this program: one, or in a test all of kernels.def, in its order.
const std::vector<Kernel>& kernels();

}  // namespace halobench

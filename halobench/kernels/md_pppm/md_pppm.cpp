// SPDX-License-Identifier: BSD-3-Clause
// A step of LAMMPS' rhodopsin benchmark as its ranks communicate in it: ghost atoms over six faces,
// PPPM's grid between bricks and lines, sums. Every atom and point is followed; what LAMMPS
// computes is charged under simulation, and left out for real.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "kernel.hpp"
#include "kernels/md_pppm/system.hpp"
#include "kernels/md_pppm/verlet.hpp"

namespace halobench {
namespace md {
namespace {

constexpr std::int64_t benchmark_steps = 100;
struct SendingPhase {
  const char* name;
  const char* purpose;  ///< of its messages
};
constexpr std::array<SendingPhase, 6> sending{
    {{"comm", "to update ghost atoms (positions out, forces back)"},
     {"movers", "for atoms that move to another rank"},
     {"borders", "to set up new ghost atoms"},
     {"shake", "to keep bonds at a fixed length (SHAKE)"},
     {"grid", "for PPPM grid points around each rank's part of the grid"},
     {"remap", "to redistribute the PPPM grid for Fourier transforms"}}};

/// The parameters of a case on a given number of ranks.
struct Settings {
  System system;
  std::int64_t rebuild;
  /// One of what is alike stands for all: only a simulation takes the others to last as long.
  bool once;
};

/// Appends what is wrong with the system to `problems`.
Settings parse_settings(const Params& params, std::int64_t ranks, std::vector<Problem>& problems) {
  return {parse_system(params, ranks, problems), params.integer("rebuild"),
          simulated() && params.choice("alike") == "once"};
}

class MdPppm : public Instance {
 public:
  MdPppm(const Context& context, const Settings& settings)
      : comm_(context.comm),
        executes_(context.meter.executes()),
        verlet_(context, settings.system, settings.rebuild, settings.once) {}

  void prepare() override { verlet_.restart(); }
  std::int64_t period() const override { return verlet_.rebuild(); }
  std::int64_t usual_steps() const override { return benchmark_steps; }
  void step() override { verlet_.step(); }

  Verdict verify() override {
    if (!executes_) return {};
    const auto found = verlet_.fault();
    if (comm_.all(found.empty())) return {};
    for (const auto& reason : comm_.gather(found)) {
      if (!reason.empty()) return {reason};
    }
    return {"another rank reports the error"};
  }

  Work work() const override {
    const auto sent = verlet_.ledger().total();
    return {sent.bytes / steps(), 0, sent.messages / steps()};
  }

  Json result(std::span<const Times> /*times*/) override {
    const auto& system = verlet_.system();
    const auto& bricks = system.bricks();
    const auto [over_y, over_z] = system.pencils();
    auto found = Json::object();
    found.set("atoms", system.atoms())
        .set("bricks", to_string({bricks.extent(0), bricks.extent(1), bricks.extent(2)}))
        .set("grid", to_string(system.grid()))
        .set("pencils", std::to_string(over_y) + "x" + std::to_string(over_z))
        .set("ghosts", verlet_.atoms().ghosts())
        .set("computation", simulated() ? "charged" : "absent");
    for (const auto& one : sending) {
      const std::string phase = one.name;
      const auto sent = verlet_.ledger().total(phase);
      found.set(phase + "_messages", comm_.sum(sent.messages) / steps())
          .set(phase + "_bytes", comm_.sum(sent.bytes) / steps());
    }
    return found;
  }

 private:
  double steps() const { return static_cast<double>(std::max<std::int64_t>(verlet_.steps(), 1)); }

  const Communicator& comm_;
  const bool executes_;
  Verlet verlet_;
};

/// Of all ranks, in bytes.
double memory(const System& system) {
  double bytes = static_cast<double>(system.ranks()) * Ghosts::memory(Atoms(system, false));
  for (std::int64_t rank = 0; rank < system.ranks(); ++rank) bytes += Mesh::memory(system, rank);
  return bytes;
}

Plan plan(const Params& params, const Shape& shape) {
  Plan planned;
  const auto [system, rebuild, once] = parse_settings(params, shape.ranks, planned.problems);
  planned.choices["alike"] = once ? "once" : "each";
  const auto steps = params.integer("steps");
  if (once && steps % rebuild != 0) {
    planned.problems.push_back({"steps", std::to_string(steps),
                                "alike=once requires a multiple of rebuild=" +
                                    std::to_string(rebuild) + " steps; give a multiple, or 0"});
  }
  if (planned.problems.empty()) planned.memory_bytes = memory(system);
  return planned;
}

std::vector<Parameter> parameters() {
  using enum Parameter::Type;
  return {
      {"copies", text, "ranks",
       "number of copies of the benchmark's box of 32,000 atoms along x, y, and z, such as 2x2x2; "
       "ranks: one copy per rank (weak scaling)"},
      {"rebuild", integer, "9",
       "number of steps from one build of the neighbour lists to the next. The first step builds "
       "them. The original benchmark builds them 11 times in 100 steps. In simulations, the steps "
       "from one build to the next are timed as one block",
       "", 1, 1e6},
      Parameter::one_of(
          "alike", "each",
          "how simulations treat identical steps between two builds of the neighbour lists and "
          "identical transforms within a step. each: simulate all of them; once: simulate one and "
          "reuse its time for the others. "
          "Real runs always execute all of them",
          {"each", "once"}),
  };
}

std::vector<Result> results() {
  using enum Result::Type;
  std::vector<Result> all{
      {"atoms", real, "total number of atoms"},
      {"bricks", extents, "ranks along x, y, and z"},
      {"grid", extents, "number of PPPM grid points along x, y, and z"},
      {"pencils", text, "number of ranks along y and z when each rank stores whole lines along x"},
      {"ghosts", integer, "number of ghost atoms per rank"},
      {"computation", text,
       "how the computation of LAMMPS is represented. charged: takes the time predicted by the "
       "node model (in simulations); absent: takes no time (in real runs)"},
  };
  for (const auto& [name, purpose] : sending) {
    const auto what = std::string(" sent by all ranks per step ") + purpose;
    all.push_back({std::string(name) + "_messages", real, "total number of messages" + what});
    all.push_back({std::string(name) + "_bytes", real, "total number of bytes" + what, "B"});
  }
  return all;
}

}  // namespace
}  // namespace md

Kernel md_pppm() {
  Kernel kernel;
  kernel.name = "md_pppm";
  kernel.summary = "Messages of the LAMMPS rhodopsin benchmark: ghost atoms, PPPM remaps, and sums";
  kernel.paper = "task-mapping-drop, section 4.1";
  kernel.parameters = md::parameters();
  kernel.results = md::results();
  kernel.repetitions = "3";
  kernel.batched = true;
  kernel.small = {{"rebuild=2", "steps=3", "repetitions=1"},
                  {"rebuild=6", "steps=6", "repetitions=1"},
                  {"copies=1x1x1", "steps=1", "repetitions=1"},
                  {"copies=2x1x3", "steps=2", "rebuild=1", "repetitions=2"}};
  kernel.plan = md::plan;
  kernel.setup = [](const Context& context) -> std::unique_ptr<Instance> {
    std::vector<Problem> none;  // the plan has already refused bad ones
    return std::make_unique<md::MdPppm>(
        context, md::parse_settings(context.params, context.comm.size(), none));
  };
  return kernel;
}

}  // namespace halobench

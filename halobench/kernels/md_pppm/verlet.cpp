// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/md_pppm/verlet.hpp"

#include <array>
#include <span>

#include "base/as_size.hpp"

namespace halobench::md {
namespace {

constexpr std::int64_t delay = 5;          ///< steps without a check: neigh_modify delay 5 every 1
constexpr std::int64_t thermo_steps = 50;  ///< from one output to the next: thermo 50
constexpr std::int64_t thermo_sums = 11;
constexpr std::int64_t topology_sums = 4;  ///< of bonds, angles, dihedrals and impropers
constexpr std::int64_t tensor = 6;         ///< values of one that is symmetric

}  // namespace

Verlet::Verlet(const Context& context, const System& system, std::int64_t rebuild, bool once)
    : context_(context),
      comm_(context.comm),
      meter_(context.meter),
      system_(system),
      rebuild_(rebuild),
      once_(once),
      phases_(context.meter),
      costs_(context, system_),
      ghosts_(context, system_, phases_),
      mesh_(context, system_, phases_, costs_, once) {}

void Verlet::restart() {
  step_ = 0;
  phases_.ledger.forget();
}

void Verlet::step() {
  const auto age = step_++ % rebuild_;
  if (once_) return step_once(age);
  if (age == 0 || age >= delay) agree(phases_.check);
  if (age == 0) {
    build();
  } else {
    ghosts_.forward(phases_.comm, phases_.pack);
  }
  common();
  if (step_ % thermo_steps != 0) return;
  for (std::int64_t i = 0; i < thermo_sums; ++i) sum(1, phases_.output);
}

/// Steps differ in whether neighbour lists are built, and in whether they are checked. Output, once
/// in fifty, is left out.
void Verlet::step_once(std::int64_t age) {
  if (age == 0 || age >= delay) agree(phases_.check);
  if (age == 0) {
    build();
    Repeated steps(context_, phases_);
    common();
    steps.again(static_cast<double>(rebuild_ - 1));
  } else if (age == 1) {
    Repeated steps(context_, phases_);
    ghosts_.forward(phases_.comm, phases_.pack);
    steps.again(static_cast<double>(rebuild_ - 2));
  }
}

void Verlet::build() {
  ghosts_.rebuild();
  costs_.neigh();
  for (std::int64_t i = 0; i < topology_sums; ++i) agree(phases_.neigh_sum);
}

/// What every step has.
void Verlet::common() {
  sum(tensor, phases_.sum);  // temperature and pressure, of the first half of a step
  sum(tensor, phases_.sum);
  costs_.pair();
  costs_.bond();
  mesh_.solve();
  sum(tensor, phases_.grid_sum);
  ghosts_.reverse();
  ghosts_.forward(phases_.shake, phases_.shake_pack);
  costs_.modify();
  sum(1, phases_.sum);  // of the second half
  sum(tensor, phases_.sum);
  sum(tensor, phases_.sum);
}

std::string Verlet::fault() const {
  for (const auto& found : {ghosts_.fault(), mesh_.fault(), wrong_sum_}) {
    if (!found.empty()) return found;
  }
  return {};
}

/// Over all ranks, so many values, of which each has its number for each rank.
void Verlet::sum(std::int64_t values, Phase& phase) {
  std::array<double, tensor> sums{};
  for (std::int64_t i = 0; i < values; ++i) sums[as_size(i)] = static_cast<double>(i + 1);
  const std::span<double> used(sums.data(), as_size(values));
  meter_.communicate(phase, [&] { comm_.sum(used); });
  for (std::int64_t i = 0; i < values; ++i) {
    if (sums[as_size(i)] == static_cast<double>((i + 1) * comm_.size())) continue;
    wrong_sum_ =
        "a sum of " + std::to_string(comm_.size()) + " ranks is " + Json(sums[as_size(i)]).dump();
  }
}

/// The largest of one integer a rank.
void Verlet::agree(Phase& phase) {
  int most = comm_.rank();
  meter_.communicate(phase, [&] {
    check(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, comm_.handle()), "MPI_Allreduce");
  });
  if (most == comm_.size() - 1) return;
  wrong_sum_ = "the largest rank was reported as " + std::to_string(most);
}

}  // namespace halobench::md

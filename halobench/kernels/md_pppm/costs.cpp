// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/md_pppm/costs.hpp"

#include <cmath>

namespace halobench::md {
namespace {

/// What LAMMPS' sections took on one rank, in seconds of an atom and a step (Neigh: of an atom and
/// a build of neighbour lists): one launch that had 98 % of a processor; docs/bench/md_pppm.md has
/// others. And how fast one core of that machine computes, as calibrate measured it there (5
/// launches, 1.96e10 to 2.21e10). As flops at that rate, the node model gives these seconds back
/// for that machine, and scales them by the rates of others.
constexpr double core_flops_per_s = 2.08e10;
constexpr double pair_s = 3.89e-6;
constexpr double bond_s = 1.42e-7;
constexpr double kspace_s = 2.69e-7;
constexpr double neigh_s = 7.77e-6;
constexpr double modify_s = 1.33e-7;

/// Transforms of a step: one forward, and one backward for each component of the field.
constexpr double transforms = 4;

double flops_of_lines(double values, std::int64_t length) {
  return 5 * values * std::log2(static_cast<double>(length));
}

/// Of the run of one rank that the sections are from, all transforms of a step.
double measured_transforms() {
  const System one({1, 1, 1}, 1);
  double flops = 0;
  for (const auto length : one.grid()) flops += flops_of_lines(one.points(), length);
  return transforms * flops;
}

}  // namespace

Costs::Costs(const Context& context, const System& system)
    : meter_(context.meter),
      system_(system),
      rank_(context.comm.rank()),
      atoms_(static_cast<double>(system.atoms_of_a_rank())) {
  if (!simulated()) return;
  pair_ = &meter_.phase("pair");
  bond_ = &meter_.phase("bond");
  neigh_ = &meter_.phase("neigh");
  modify_ = &meter_.phase("modify");
  kspace_ = &meter_.phase("kspace");
  fft_ = &meter_.phase("fft");
}

void Costs::charge(Phase* phase, double seconds_of_an_atom) {
  if (phase == nullptr) return;
  meter_.compute(*phase, {.flops = seconds_of_an_atom * atoms_ * core_flops_per_s}, [] {});
}

void Costs::pair() { charge(pair_, pair_s); }
void Costs::bond() { charge(bond_, bond_s); }
void Costs::neigh() { charge(neigh_, neigh_s); }
void Costs::modify() { charge(modify_, modify_s); }

void Costs::half_of_kspace() {
  const double transforms_s =
      measured_transforms() / core_flops_per_s / static_cast<double>(System::copy_atoms);
  charge(kspace_, (kspace_s - transforms_s) / 2);
}

void Costs::lines(Layout layout) {
  if (fft_ == nullptr) return;
  const auto axis = static_cast<std::size_t>(layout) - static_cast<std::size_t>(Layout::along_x);
  const auto values = static_cast<double>(md::points(system_.part(layout, rank_)));
  meter_.compute(*fft_, {.flops = flops_of_lines(values, system_.grid()[axis])}, [] {});
}

}  // namespace halobench::md

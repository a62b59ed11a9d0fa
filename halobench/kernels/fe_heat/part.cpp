// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fe_heat/part.hpp"

#include <algorithm>

namespace halobench::heat {

IndexSet Places::of(const Brick& nodes) const {
  const auto [xs, ys, zs] = nodes;
  const Box box{
      of(xs.begin - nodes_[0].begin, ys.begin - nodes_[1].begin, zs.begin - nodes_[2].begin),
      {xs.size(), ys.size(), zs.size()},
      {row_, plane_}};
  return {box.count(), {box}, {}};
}

Part::Part(const Bisection& mesh, std::int64_t rank)
    : elements_(mesh.elements()),
      box_(volume(mesh.box(rank))),
      nodes_(nodes_of(mesh, rank)),
      places_(nodes_) {
  for (std::size_t axis = 0; axis < 3; ++axis) whole_.nodes[axis] = {0, size(axis)};
  cut_shell();
  if (rows() > 0) find_bonds(mesh, rank);
}

Brick Part::nodes_of(const Bisection& mesh, std::int64_t rank) {
  const auto [nx, ny, nz] = mesh.elements();
  return intersection(mesh.box(rank), {Range{1, nx}, Range{1, ny}, Range{1, nz}});
}

std::int64_t Part::ghosts() const {
  std::int64_t sum = 0;
  for (const auto& bond : bonds_) sum += bond.leaves.count;
  return sum;
}

std::int64_t Part::buffered() const {
  std::int64_t sum = 0;
  for (const auto& bond : bonds_) {
    for (const auto* set : {&bond.leaves, &bond.roots}) sum += set->is_run() ? 0 : set->count;
  }
  return sum;
}

/// Peels off a layer on every side that has another rank's nodes beyond it.
void Part::cut_shell() {
  auto rest = whole_.nodes;
  for (const std::size_t axis : {2U, 1U, 0U}) {
    const auto [begin, end] = nodes_[axis];
    const std::int64_t low = std::min<std::int64_t>(begin > 1 ? 1 : 0, end - begin);
    const std::int64_t high = std::max(low, end - begin - (end < elements_[axis] ? 1 : 0));
    add_to_shell(rest, axis, {0, low});
    add_to_shell(rest, axis, {high, end - begin});
    rest[axis] = {low, high};
  }
  inside_ = {rest, lines_};
  if (volume(rest) > 0) lines_ += rest[1].size() * rest[2].size();
}

void Part::add_to_shell(Brick rest, std::size_t axis, Range range) {
  rest[axis] = range;
  if (volume(rest) == 0) return;
  shell_.push_back({rest, lines_});
  lines_ += rest[1].size() * rest[2].size();
}

void Part::find_bonds(const Bisection& mesh, std::int64_t rank) {
  for (const auto other : mesh.ranks_with(grown(nodes_))) {
    if (other == rank) continue;
    const auto shared = intersection(nodes_of(mesh, other), grown(nodes_));
    if (volume(shared) == 0) continue;
    bonds_.push_back(
        {static_cast<int>(other), places_.of(shared), Places(nodes_of(mesh, other)).of(shared)});
  }
}

}  // namespace halobench::heat

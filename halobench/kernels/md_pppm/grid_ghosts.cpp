// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/md_pppm/grid_ghosts.hpp"

#include <algorithm>

#include "kernels/md_pppm/boxes.hpp"
#include "kernels/md_pppm/ghosts.hpp"

namespace halobench::md {
namespace {

constexpr std::int64_t most_values = 3;  ///< a point: the field's components

Traffic moved(std::int64_t values) {
  const auto bytes = 8 * static_cast<double>(values);
  return {.bytes = 2 * bytes, .stored_bytes = bytes};
}

}  // namespace

GridGhosts::GridGhosts(const Context& context, const System& system)
    : comm_(context.comm),
      meter_(context.meter),
      whole_(system.with_ghosts(comm_.rank())),
      swaps_(swaps(system, comm_.rank())),
      out_(context.memory.allocate<double>(largest_message(swaps_))),
      in_(context.memory.allocate<double>(largest_message(swaps_))) {}

/// Down and up along each axis, ghosts along the axes before among what is sent.
std::vector<GridGhosts::Swap> GridGhosts::swaps(const System& system, std::int64_t rank) {
  const auto whole = system.with_ghosts(rank);
  const auto brick = system.part(Layout::bricks, rank);
  std::vector<Swap> found;
  Box with = brick;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int lower = system.bricks().neighbour(rank, axis, -1);
    const int upper = system.bricks().neighbour(rank, axis, 1);
    const auto lower_needs =
        system.with_ghosts(lower)[axis].end - system.part(Layout::bricks, lower)[axis].end;
    const auto upper_needs =
        system.part(Layout::bricks, upper)[axis].begin - system.with_ghosts(upper)[axis].begin;
    const auto [begin, end] = brick[axis];
    Swap down{lower, upper, with, with};
    down.sent[axis] = {begin, begin + lower_needs};
    down.received[axis] = {end, whole[axis].end};
    Swap up{upper, lower, with, with};
    up.sent[axis] = {end - upper_needs, end};
    up.received[axis] = {whole[axis].begin, begin};
    found.push_back(down);
    found.push_back(up);
    with[axis] = whole[axis];
  }
  return found;
}

std::int64_t GridGhosts::largest_message(const std::vector<Swap>& swaps) {
  std::int64_t most = 0;
  for (const auto& swap : swaps) most = std::max({most, points(swap.sent), points(swap.received)});
  return most_values * most;
}

double GridGhosts::memory(const System& system, std::int64_t rank) {
  return 2 * 8 * static_cast<double>(largest_message(swaps(system, rank)));
}

void GridGhosts::forward(Phases& phases, double* grid, std::int64_t values) const {
  for (const auto& swap : swaps_) {
    const auto sent = values * points(swap.sent);
    const auto received = values * points(swap.received);
    meter_.compute(phases.grid_pack, moved(sent),
                   [&] { gather(grid, whole_, swap.sent, values, out_.data()); });
    const bool alone = swap.to == comm_.rank();
    if (!alone) exchange(phases, sent, swap.to, received, swap.from);
    meter_.compute(phases.grid_pack, moved(received), [&] {
      scatter(alone ? out_.data() : in_.data(), grid, whole_, swap.received, values);
    });
  }
}

void GridGhosts::reverse(Phases& phases, double* grid) const {
  for (auto swap = swaps_.rbegin(); swap != swaps_.rend(); ++swap) {
    const auto sent = points(swap->received);
    const auto received = points(swap->sent);
    meter_.compute(phases.grid_pack, moved(sent),
                   [&] { gather(grid, whole_, swap->received, 1, out_.data()); });
    const bool alone = swap->from == comm_.rank();
    if (!alone) exchange(phases, sent, swap->from, received, swap->to);
    meter_.compute(phases.grid_pack, moved(received), [&] {
      const double* came = alone ? out_.data() : in_.data();
      for_lines(whole_, swap->sent, [&](std::int64_t place, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) grid[place + i] += *came++;
      });
    });
  }
}

void GridGhosts::exchange(Phases& phases, std::int64_t sent, int to, std::int64_t received,
                          int from) const {
  meter_.communicate(
      phases.grid, [&] { swap_values(comm_, out_.data(), sent, to, in_.data(), received, from); });
  if (sent > 0) phases.ledger.add(phases.grid.name, to, 8 * static_cast<double>(sent));
}

}  // namespace halobench::md

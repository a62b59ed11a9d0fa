// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/jacobi3d/cut.hpp"

#include <mpi.h>

#include <algorithm>
#include <optional>

namespace halobench::jacobi {
namespace {

/// Of 4, 6, 8 and 12 the fastest on one rank: with more sweeps, blocks that fit a core's second
/// cache have so few rows that most of their neighbours are read from the last one.
constexpr std::int64_t usual_temporal_depth = 8;
constexpr std::array names{"x", "y", "z"};

/// The largest box of a rank.
Extents largest_box(const Extents& size, const Extents& topology) {
  Extents largest{};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    largest[axis] = share({0, size[axis]}, topology[axis], 0).size();
  }
  return largest;
}

/// The grid of ranks that exchanges the fewest bytes; of equals the one that cuts x most, then y:
/// faces that are whole planes of memory are packed fastest. Nothing where every grid has more
/// ranks along an axis than points. A `box` of every rank, or the whole mesh's `size`.
std::optional<Extents> least_exchange(std::int64_t ranks, const std::optional<Extents>& box,
                                      const Extents& size) {
  std::optional<Extents> best;
  double least = 0;
  for (std::int64_t x = ranks; x >= 1; --x) {
    if (ranks % x != 0) continue;
    for (std::int64_t y = ranks / x; y >= 1; --y) {
      if (ranks / x % y != 0) continue;
      const Extents topology{x, y, ranks / x / y};
      const bool fits = box || (x <= size[0] && y <= size[1] && topology[2] <= size[2]);
      if (!fits) continue;
      const auto bytes = exchanged(box.value_or(largest_box(size, topology)), topology, 1).bytes;
      if (!best || bytes < least) {
        best = topology;
        least = bytes;
      }
    }
  }
  return best;
}

std::optional<Extents> parse_size(const Params& params, std::vector<Problem>& problems) {
  const auto& text = params.text("size");
  const auto size = parse_extents(text);
  if (!size) {
    problems.push_back(
        {"size", text, "give points along x, y, and z, such as 400x400x400, or cubes"});
  }
  return size;
}

std::optional<Extents> parse_topology(const std::string& text, std::int64_t ranks,
                                      std::vector<Problem>& problems) {
  if (text == "1d" || text == "2d" || text == "3d") return most_even(ranks, text[0] - '0');
  const auto topology = parse_extents(text);
  if (!topology) {
    problems.push_back(
        {"topology", text, "give auto, 1d, 2d, 3d, or ranks along x, y, and z, such as 4x1x1"});
    return {};
  }
  const auto wrong = other_ranks(*topology, ranks);
  if (!wrong) return topology;
  problems.push_back(
      {"topology", text, *wrong + ", such as " + to_string(most_even(ranks, 3)) + ", or auto"});
  return {};
}

void check_size(const Cut& cut, const std::string& key, const std::string& value,
                std::vector<Problem>& problems) {
  if (!volume(cut.size)) {
    problems.push_back({key, value, "more than 2^63 points; give a smaller mesh"});
  }
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (cut.size[axis] >= cut.topology[axis]) continue;
    problems.push_back({key, value,
                        "fewer points than ranks along " + std::string(names[axis]) + " (" +
                            std::to_string(cut.topology[axis]) +
                            "); use fewer ranks there or a larger mesh"});
  }
}

std::int64_t chosen_depth(const Params& params, const Cut& cut, std::vector<Problem>& problems) {
  const auto asked = params.integer("depth");
  const auto most = std::ranges::min(cut.part(cut.grid().ranks() - 1).extents);  // the smallest box
  if (asked == 0) {
    return params.choice("variant") == "temporal" ? std::min(usual_temporal_depth, most) : 1;
  }
  if (asked > most) {
    problems.push_back(
        {"depth", std::to_string(asked),
         "more sweeps per exchange than points along an axis of the smallest box; give at most " +
             std::to_string(most)});
  }
  return asked;
}

}  // namespace

bool empty(const Box& box) {
  return std::ranges::any_of(box, [](const Range& range) { return range.size() <= 0; });
}

std::int64_t points_of(const Box& box) { return box[0].size() * box[1].size() * box[2].size(); }

std::vector<Box> around(const Box& whole, const Box& inner) {
  if (empty(inner)) return {whole};
  std::vector<Box> pieces;
  Box rest = whole;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    for (const Range& range :
         {Range{whole[axis].begin, inner[axis].begin}, Range{inner[axis].end, whole[axis].end}}) {
      rest[axis] = range;
      if (range.size() > 0) pieces.push_back(rest);
    }
    rest[axis] = inner[axis];
  }
  return pieces;
}

Box Part::own() const { return {{{0, extents[0]}, {0, extents[1]}, {0, extents[2]}}}; }

Box Part::grown(const Box& box, std::int64_t layers) const {
  Box larger;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const Range reach{open[axis][0] ? -depth : 0, extents[axis] + (open[axis][1] ? depth : 0)};
    larger[axis] = {std::max(box[axis].begin - layers, reach.begin),
                    std::min(box[axis].end + layers, reach.end)};
  }
  return larger;
}

Box Part::inside(std::int64_t layers) const {
  Box smaller = own();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (open[axis][0]) smaller[axis].begin += layers;
    if (open[axis][1]) smaller[axis].end -= layers;
  }
  return smaller;
}

Box Cut::box(std::int64_t rank) const {
  const auto at = grid().coordinates(rank);
  Box box;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    box[axis] = share({0, size[axis]}, topology[axis], at[axis]);
  }
  return box;
}

Part Cut::part(std::int64_t rank) const {
  Part part;
  part.depth = depth;
  const auto place = box(rank);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    part.extents[axis] = place[axis].size();
    part.open[axis] = {grid().neighbour(rank, axis, -1) != MPI_PROC_NULL,
                       grid().neighbour(rank, axis, 1) != MPI_PROC_NULL};
  }
  return part;
}

Exchanged exchanged(const Extents& box, const Extents& topology, double value_bytes) {
  Exchanged found;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (topology[axis] == 1) continue;
    const auto face = box[(axis + 1) % axes] * box[(axis + 2) % axes];
    found.faces += 2;
    found.bytes += 2 * 2 * value_bytes * static_cast<double>(face);
  }
  return found;
}

Cut parse_cut(const Params& params, std::int64_t ranks, std::vector<Problem>& problems) {
  Cut cut;
  cut.periodic = params.choice("boundary") == "periodic";
  const bool cubes = params.text("size") == "cubes";
  const bool chosen = params.text("topology") == "auto";
  const std::int64_t side = params.integer("L");
  const std::string key = cubes ? "L" : "size";
  const std::string value = cubes ? std::to_string(side) : params.text("size");

  const auto size = cubes ? std::optional<Extents>{} : parse_size(params, problems);
  const auto cube = cubes ? std::optional<Extents>{{side, side, side}} : std::optional<Extents>{};
  const auto topology = chosen ? least_exchange(ranks, cube, size.value_or(Extents{1, 1, 1}))
                               : parse_topology(params.text("topology"), ranks, problems);
  if (!problems.empty()) return cut;
  if (!topology) {
    problems.push_back({key, value, "fewer points than ranks along every axis; use fewer ranks"});
    return cut;
  }
  cut.topology = *topology;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    cut.size[axis] = cubes ? side * cut.topology[axis] : (*size)[axis];
  }
  check_size(cut, key, value, problems);
  if (problems.empty()) cut.depth = chosen_depth(params, cut, problems);
  return cut;
}

}  // namespace halobench::jacobi

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/sum3d/layout.hpp"

#include <limits>

#include "mpi/communicator.hpp"

namespace halobench {
namespace {

void parse_size(const std::string& text, SumLayout& layout, std::vector<Problem>& problems) {
  const auto size = parse_extents(text);
  if (!size) {
    problems.push_back({"size", text, "give elements along x, y, and z, such as 2400x100x100"});
    return;
  }
  layout.size = *size;
  const auto elements = volume(*size);
  if (elements && *elements <= std::numeric_limits<int>::max()) {
    layout.elements = *elements;
  } else {
    problems.push_back(
        {"size", text,
         "more than 2^31 - 1 elements, the limit of MPI counts; give a smaller array"});
  }
}

void parse_topology(const std::string& text, std::int64_t ranks, SumLayout& layout,
                    std::vector<Problem>& problems) {
  if (text == "1d" || text == "2d" || text == "3d") {
    layout.topology = most_even(ranks, text[0] - '0');
    return;
  }
  const auto topology = parse_extents(text);
  if (!topology) {
    problems.push_back(
        {"topology", text, "give 1d, 2d, 3d, or ranks along x, y, and z, such as 4x3x2"});
  } else if (const auto wrong = other_ranks(*topology, ranks)) {
    problems.push_back({"topology", text, *wrong + ", or 1d, 2d, 3d"});
  } else {
    layout.topology = *topology;
  }
}

}  // namespace

std::array<Range, 3> SumLayout::block(std::int64_t rank) const {
  const auto at = RankGrid(topology).coordinates(rank);
  std::array<Range, 3> block;
  for (std::size_t i = 0; i < block.size(); ++i) {
    block[i] = share({0, size[i]}, topology[i], at[i]);
  }
  return block;
}

std::vector<int> SumLayout::counts(int ranks) const {
  std::vector<int> counts;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto [x, y, z] = block(rank);
    counts.push_back(message_count(distribution == Distribution::balanced
                                       ? share({0, elements}, ranks, rank).size()
                                       : x.size() * y.size() * z.size()));
  }
  return counts;
}

SumLayout parse_sum_layout(const Params& params, std::int64_t ranks,
                           std::vector<Problem>& problems) {
  SumLayout layout;
  layout.distribution = params.chosen<Distribution>("distribution");
  parse_size(params.text("size"), layout, problems);
  parse_topology(params.text("topology"), ranks, layout, problems);
  return layout;
}

}  // namespace halobench

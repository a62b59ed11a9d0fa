// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fe_heat/bisection.hpp"

#include <algorithm>

namespace halobench::heat {
namespace {

std::int64_t quotient_upwards(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// `length` times `part` over `of`, to the nearest whole number, without large products.
std::int64_t proportional(std::int64_t length, std::int64_t part, std::int64_t of) {
  return length / of * part + (2 * (length % of) * part + of) / (2 * of);
}

std::size_t longest_axis(const Brick& box) {
  std::size_t longest = 2;
  for (const std::size_t axis : {1U, 0U}) {
    if (box[axis].size() > box[longest].size()) longest = axis;
  }
  return longest;
}

}  // namespace

std::int64_t volume(const Brick& brick) {
  return brick[0].size() * brick[1].size() * brick[2].size();
}

Brick intersection(const Brick& a, const Brick& b) {
  Brick common;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    common[axis].begin = std::max(a[axis].begin, b[axis].begin);
    common[axis].end = std::max(common[axis].begin, std::min(a[axis].end, b[axis].end));
  }
  return common;
}

Brick grown(Brick brick) {
  for (auto& range : brick) range = {range.begin - 1, range.end + 1};
  return brick;
}

Bisection::Share Bisection::whole() const {
  return {{Range{0, elements_[0]}, Range{0, elements_[1]}, Range{0, elements_[2]}}, {0, ranks_}};
}

/// Half of the ranks have the first half; fewer where layers are so few that only then every rank
/// has an element.
std::pair<Bisection::Share, Bisection::Share> Bisection::halves(const Share& share) {
  const auto axis = longest_axis(share.box);
  const auto [begin, end] = share.box[axis];
  const auto layer = volume(share.box) / (end - begin);
  const auto ranks = share.ranks.size();
  auto first = ranks / 2;
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (;; --first) {
    least = quotient_upwards(first, layer);
    most = (end - begin) - quotient_upwards(ranks - first, layer);
    if (least <= most) break;
  }
  const auto cut = begin + std::clamp(proportional(end - begin, first, ranks), least, most);
  const auto middle = share.ranks.begin + first;
  Share lower{share.box, {share.ranks.begin, middle}};
  Share upper{share.box, {middle, share.ranks.end}};
  lower.box[axis].end = cut;
  upper.box[axis].begin = cut;
  return {lower, upper};
}

Brick Bisection::box(std::int64_t rank) const {
  auto share = whole();
  while (share.ranks.size() > 1) {
    const auto [lower, upper] = halves(share);
    share = lower.ranks.contains(rank) ? lower : upper;
  }
  return share.box;
}

std::vector<std::int64_t> Bisection::ranks_with(const Brick& elements) const {
  std::vector<std::int64_t> ranks;
  find(whole(), elements, ranks);
  return ranks;
}

void Bisection::find(const Share& share, const Brick& elements, std::vector<std::int64_t>& ranks) {
  if (volume(intersection(share.box, elements)) == 0) return;
  if (share.ranks.size() == 1) {
    ranks.push_back(share.ranks.begin);
    return;
  }
  const auto [lower, upper] = halves(share);
  find(lower, elements, ranks);
  find(upper, elements, ranks);
}

}  // namespace halobench::heat

// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/pairs.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace halobench {
namespace {

std::optional<int> parse_rank(std::string_view text) {
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc{} || end != text.data() + text.size() || rank < 0) return std::nullopt;
  return rank;
}

std::optional<Pair> parse_pair(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_rank(text.substr(0, dash));
  const auto second = parse_rank(text.substr(dash + 1));
  if (!first || !second) return std::nullopt;
  return Pair{*first, *second};
}

/// All ranks in pairs: rank i of the lower ones with the one `distance` above.
std::vector<Pair> pair_all(std::int64_t ranks, bool halves) {
  std::vector<Pair> pairs;
  for (int i = 0; i < static_cast<int>(ranks / 2); ++i) {
    if (halves) {
      pairs.push_back({i, i + static_cast<int>(ranks / 2)});
    } else {
      pairs.push_back({2 * i, 2 * i + 1});
    }
  }
  return pairs;
}

/// Why these pairs can't talk among `ranks` ranks; empty if they can.
std::string refusal(const std::vector<Pair>& pairs, std::int64_t ranks) {
  std::vector<int> members;
  for (const auto& pair : pairs) members.insert(members.end(), {pair.first, pair.second});
  std::ranges::sort(members);
  if (members.back() >= ranks) {
    return "no rank " + std::to_string(members.back()) + " among " + std::to_string(ranks) +
           "; give pairs of ranks from 0 to " + std::to_string(ranks - 1) + ", or use more ranks";
  }
  const auto twice = std::ranges::adjacent_find(members);
  if (twice == members.end()) return "";
  return "rank " + std::to_string(*twice) + " occurs twice; give each rank one partner";
}

}  // namespace

std::vector<Pair> parse_pairs(const std::string& text, std::int64_t ranks,
                              std::vector<Problem>& problems) {
  const auto refuse = [&](const std::string& why) {
    problems.push_back({"pairs", text, why});
    return std::vector<Pair>{};
  };
  if (text == "halves" || text == "neighbours") {
    if (ranks % 2 == 0) return pair_all(ranks, text == "halves");
    return refuse(std::to_string(ranks) +
                  " ranks: an odd number cannot be paired; use an even number of ranks, or name "
                  "the pairs, such as 0-1");
  }
  std::vector<Pair> pairs;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const auto pair = parse_pair(rest.substr(0, comma));
    if (!pair) return refuse("give pairs of ranks such as 0-1 or 0-2,1-3, or halves, neighbours");
    pairs.push_back(*pair);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const auto why = refusal(pairs, ranks);
  return why.empty() ? pairs : refuse(why);
}

}  // namespace halobench

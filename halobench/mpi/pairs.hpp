// SPDX-License-Identifier: BSD-3-Clause
// Which ranks talk to which: pairs, written as "0-1,2-3", "halves" or "neighbours".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/usage_error.hpp"

namespace halobench {

struct Pair {
  int first;
  int second;
};

/// The pairs that `text` names among `ranks` ranks. What is wrong is appended to `problems`, under
/// the key "pairs": no pair, a rank that is missing or in two pairs, an odd number of ranks
/// for "halves" (0 with ranks/2, 1 with ranks/2 + 1 ...) or "neighbours" (0 with 1, 2 with 3 ...).
std::vector<Pair> parse_pairs(const std::string& text, std::int64_t ranks,
                              std::vector<Problem>& problems);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Pairs of ranks: what is understood, and what is refused with its remedy.
#include <vector>

#include "expect.hpp"
#include "mpi/pairs.hpp"

using halobench::Problem;

namespace {

std::string pairs(const std::string& text, std::int64_t ranks) {
  std::vector<Problem> problems;
  std::string out;
  for (const auto& pair : halobench::parse_pairs(text, ranks, problems)) {
    out += std::to_string(pair.first) + "-" + std::to_string(pair.second) + " ";
  }
  for (const auto& problem : problems) {
    out += problem.key + "=" + problem.value + ": " + problem.message;
  }
  return out;
}

void pairs_are_read() {
  expect::equal(pairs("0-1", 2), "0-1 ");
  expect::equal(pairs("3-0", 4), "3-0 ");
  expect::equal(pairs("0-2,3-1", 4), "0-2 3-1 ");
  expect::equal(pairs("halves", 6), "0-3 1-4 2-5 ");
  expect::equal(pairs("neighbours", 6), "0-1 2-3 4-5 ");
}

void nonsense_is_refused() {
  for (const std::string text :
       {"", "0", "0-", "-1", "0-1,", "0-1-2", "a-b", "0 - 1", "0--1", "0-99999999999"}) {
    expect::equal(pairs(text, 4), "pairs=" + text +
                                      ": give pairs of ranks such as 0-1 or 0-2,1-3, or halves, "
                                      "neighbours");
  }
}

void ranks_outside_are_refused() {
  expect::equal(pairs("0-4", 4),
                "pairs=0-4: no rank 4 among 4; give pairs of ranks from 0 to 3, or use "
                "more ranks");
}

void a_rank_has_one_partner() {
  expect::equal(pairs("0-1,1-2", 4),
                "pairs=0-1,1-2: rank 1 occurs twice; give each rank one "
                "partner");
  expect::contains(pairs("2-2", 4), "rank 2 occurs twice");
}

void odd_numbers_of_ranks_cannot_be_paired() {
  for (const std::string text : {"halves", "neighbours"}) {
    expect::equal(pairs(text, 3), "pairs=" + text +
                                      ": 3 ranks: an odd number cannot be paired; use an even "
                                      "number of ranks, or name the pairs, such as 0-1");
  }
}

}  // namespace

int main() {
  pairs_are_read();
  nonsense_is_refused();
  ranks_outside_are_refused();
  a_rank_has_one_partner();
  odd_numbers_of_ranks_cannot_be_paired();
  return expect::exit_code();
}

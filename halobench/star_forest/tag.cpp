// SPDX-License-Identifier: BSD-3-Clause
#include "star_forest/tag.hpp"

#include <array>

namespace halobench {
namespace {

constexpr std::array ways{"bcast", "reduce"};
constexpr std::array operations{"replace", "sum", "min", "max"};
constexpr std::array types{"double", "float", "int32"};
constexpr std::int64_t most_widths = 1024;

template <class Words>
std::string take_word(int& tag, const Words& words) {
  const auto choices = static_cast<int>(words.size());
  const std::string word = words[as_size(tag % choices)];
  tag /= choices;
  return word;
}

}  // namespace

int tag_of(Way way, const Unit& unit, Operation operation) {
  auto tag = static_cast<int>(unit.width() % most_widths);
  tag = tag * static_cast<int>(types.size()) + static_cast<int>(unit.type());
  tag = tag * static_cast<int>(operations.size()) + static_cast<int>(operation);
  return tag * static_cast<int>(ways.size()) + static_cast<int>(way);
}

std::string said_by(int tag) {
  const auto way = take_word(tag, ways);
  const auto operation = take_word(tag, operations);
  const auto type = take_word(tag, types);
  return way + " of " + std::to_string(tag) + " " + type + " with " + operation;
}

}  // namespace halobench

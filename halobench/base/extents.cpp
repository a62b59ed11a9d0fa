// SPDX-License-Identifier: BSD-3-Clause
#include "base/extents.hpp"

#include <charconv>
#include <limits>

namespace halobench {

std::optional<Extents> parse_extents(std::string_view text) {
  Extents extents{1, 1, 1};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto cross = text.find('x');
    const auto number = text.substr(0, cross);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), extents[i]);
    if (error != std::errc{} || end != number.data() + number.size() || extents[i] < 1) {
      return std::nullopt;
    }
    if (cross == std::string_view::npos) return extents;
    text.remove_prefix(cross + 1);
  }
  return std::nullopt;
}

std::string to_string(const Extents& extents) {
  return std::to_string(extents[0]) + "x" + std::to_string(extents[1]) + "x" +
         std::to_string(extents[2]);
}

std::optional<std::int64_t> volume(const Extents& extents) {
  std::int64_t product = 1;
  for (const auto extent : extents) {
    if (product > std::numeric_limits<std::int64_t>::max() / extent) return std::nullopt;
    product *= extent;
  }
  return product;
}

}  // namespace halobench

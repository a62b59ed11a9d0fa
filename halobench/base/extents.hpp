// SPDX-License-Identifier: BSD-3-Clause
// Three numbers, one per axis, as users write them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halobench {

/// Elements, or ranks, along x, y and z.
using Extents = std::array<std::int64_t, 3>;

/// "2400x100x100"; dimensions left out are 1. Nothing if it is not one to three numbers above 0.
std::optional<Extents> parse_extents(std::string_view text);
/// As parse_extents reads it, all three dimensions.
std::string to_string(const Extents& extents);

/// The product; nothing above 2^63 - 1.
std::optional<std::int64_t> volume(const Extents& extents);

}  // namespace halobench

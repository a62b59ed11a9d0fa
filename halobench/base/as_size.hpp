// SPDX-License-Identifier: BSD-3-Clause
// The one cast from our signed counts and indices to the library's unsigned ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halobench {

/// `number`, which is not negative, as the standard library's containers take it.
constexpr std::size_t as_size(std::int64_t number) { return static_cast<std::size_t>(number); }

}  // namespace halobench

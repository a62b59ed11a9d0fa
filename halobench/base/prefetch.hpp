// SPDX-License-Identifier: BSD-3-Clause
// Asking for memory before it is needed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halobench {

/// What is meant to be done with memory that is asked for.
enum class Soon { read, write };

/// Asks for the lines of the cache that memory lies in: nothing is read, so it may lie beyond an
/// array's end. Worth it where a processor doesn't see by itself what comes next: many short pieces
/// far from each other, or an algorithm that takes a row's values out of order.
template <Soon use>
void prefetch(const void* memory, std::size_t bytes) {
  constexpr std::uintptr_t cache_line = 64;
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  for (auto line = first & ~(cache_line - 1); line < first + bytes; line += cache_line) {
    __builtin_prefetch(reinterpret_cast<const void*>(line), use == Soon::write ? 1 : 0);
  }
}

}  // namespace halobench

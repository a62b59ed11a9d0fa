// SPDX-License-Identifier: BSD-3-Clause
// Prefetching: memory is loaded into the cache before it is used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halobench {

/// What will be done with prefetched memory.
enum class Soon { read, write };

/// Distance in values of double precision at which sweeps over several vectors prefetch them, 4
/// KiB: memory answers before they get there. The hardware prefetches too late for such sweeps.
constexpr std::int64_t values_ahead = 512;

/// Prefetches the cache line of an address, which may be beyond the end of an array.
template <Soon use>
inline void prefetch_line(const void* memory) {
  __builtin_prefetch(memory, use == Soon::write ? 1 : 0);
}

/// Prefetches all cache lines of `bytes` bytes. Useful where a processor cannot predict the
/// accesses: many short pieces far from each other, or an algorithm that takes a row's values out
/// of order.
template <Soon use>
void prefetch(const void* memory, std::size_t bytes) {
  constexpr std::uintptr_t cache_line = 64;
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  for (auto line = first & ~(cache_line - 1); line < first + bytes; line += cache_line) {
    prefetch_line<use>(reinterpret_cast<const void*>(line));
  }
}

}  // namespace halobench

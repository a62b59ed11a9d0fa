// SPDX-License-Identifier: BSD-3-Clause
// Stores that go past the caches: a line that is overwritten whole is not read from memory first.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace halobench {

#ifdef __SSE2__
constexpr bool has_streaming_stores = true;
#else
constexpr bool has_streaming_stores = false;
#endif

/// out = values, `count` of them; whole cache lines of `out` by streaming stores, where there are
/// such. Nobody else sees them before end_streaming().
template <class Value>
inline void stream_row(Value* out, const Value* values, std::int64_t count) {
  std::int64_t k = 0;
#ifdef __SSE2__
  constexpr std::size_t line_bytes = 64;
  constexpr auto line = static_cast<std::int64_t>(line_bytes / sizeof(Value));
  constexpr auto part = static_cast<std::int64_t>(sizeof(__m128i) / sizeof(Value));
  const auto past = reinterpret_cast<std::uintptr_t>(out) % line_bytes / sizeof(Value);
  const auto head = std::min(count, (line - static_cast<std::int64_t>(past)) % line);
  for (; k < head; ++k) out[k] = values[k];
  for (; k + line <= count; k += line) {
    for (std::int64_t i = k; i < k + line; i += part) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(values + i)));
    }
  }
#endif
  for (; k < count; ++k) out[k] = values[k];
}

/// Called by every thread that streamed, before another one reads.
inline void end_streaming() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/relax.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "base/prefetch.hpp"
#include "base/streaming.hpp"
#include "numerics/vectors.hpp"

namespace halobench {
namespace {

/// Of values, or of vectors of them. The only place that fixes the order of the sum.
template <class Value, class Values>
Values mean(Values below, Values above, Values low, Values high, Values left, Values right) {
  return (((below + above) + (low + high)) + (left + right)) * (Value{1} / Value{6});
}

#ifdef __AVX512F__

// A vector fills a cache line, so a load of left or right neighbours would touch two lines: they
// are shuffled out of vectors that are in registers.

/// Three vectors of a row in registers, each loaded once.
template <class Value>
struct Window {
  Values<Value> before;  ///< only its last value is used
  Values<Value> here;
  Values<Value> after;  ///< only its first

  explicit Window(const Value* row) : before(repeated(row[-1])), here(load(row)), after(here) {}

  Values<Value> left() const { return left_neighbours<Value>(before, here); }
  Values<Value> right() const { return right_neighbours<Value>(here, after); }
  void advance() {
    before = here;
    here = after;
  }
};

bool begins_line(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 64 == 0;
}

/// Past the caches; `to` begins a cache line.
template <class Value>
void stream(Value* to, const Values<Value>& values) {
  __m512i bits;
  std::memcpy(&bits, &values, sizeof(bits));
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), bits);
}

/// All whole vectors of a row in two planes; how many values of each these are. The planes that the
/// two below did not need are prefetched `ahead` bytes ahead, unless that is 0.
template <class Value, auto put, std::int64_t ahead>
std::int64_t relax_vectors(const std::array<Value*, 2>& out, const Planes<Value>& low,
                           const Planes<Value>& high, std::int64_t count) {
  constexpr auto size = Vector<Value>::size;
  if (count < size) return 0;
  Window<Value> one(low.here);
  Window<Value> two(high.here);
  std::int64_t k = 0;
  const auto step = [&](const auto& next) {
    for (const auto* plane : {high.here, high.above}) {
      if (ahead > 0) prefetch_line<Soon::read>(reinterpret_cast<const char*>(plane + k) + ahead);
    }
    one.after = next(low.here + k + size);
    two.after = next(high.here + k + size);
    const auto around = [&](const Window<Value>& window, const Value* here, Values<Value> below,
                            Values<Value> above) {
      return mean<Value>(below, above, load(here - low.row), load(here + low.row), window.left(),
                         window.right());
    };
    put(out[0] + k, around(one, low.here + k, load(low.below + k), two.here));
    put(out[1] + k, around(two, high.here + k, one.here, load(high.above + k)));
    one.advance();
    two.advance();
    k += size;
  };
  while (k + 2 * size <= count) step(load<Value>);
  step([](const Value* right) { return repeated(*right); });
  return k;
}

#endif

/// What is left of a row from value `k` on.
template <class Value>
void relax_rest(std::int64_t k, Value* out, const Planes<Value>& from, std::int64_t count) {
  const auto [below, here, above, row] = from;
  // A cache line at a time: GCC takes half of AVX-512's registers otherwise.
#pragma omp simd simdlen(64 / sizeof(Value))
  for (std::int64_t i = k; i < count; ++i) {
    out[i] =
        mean<Value>(below[i], above[i], here[i - row], here[i + row], here[i - 1], here[i + 1]);
  }
}

/// The same past the caches, by way of a few lines in the first one: a streaming store must have
/// all of a line at once.
template <class Value>
void stream_rest(std::int64_t k, Value* out, const Planes<Value>& from, std::int64_t count) {
  constexpr std::int64_t longest = 64;
  alignas(64) std::array<Value, longest> row;
  for (; k < count; k += longest) {
    const auto now = std::min(longest, count - k);
    relax(row.data(), from, k, now);
    stream_row(out + k, row.data(), now);
  }
}

template <class Value>
Planes<Value> moved(const Planes<Value>& planes, std::int64_t values) {
  return {planes.below + values, planes.here + values, planes.above + values, planes.row};
}

}  // namespace

template <class Value>
void relax(Value* out, const Planes<Value>& from, std::int64_t first, std::int64_t count) {
  relax_rest(0, out, moved(from, first), count);
}

template <class Value, Stores stores>
void relax_two(const std::array<Value*, 2>& out, const Planes<Value>& from, const Value* top,
               std::int64_t first, std::int64_t count) {
  constexpr bool streaming = stores == Stores::streaming;
  const auto low = moved(from, first);
  const Planes<Value> high{low.here, low.above, top + first, low.row};
  std::int64_t done = 0;
#ifdef __AVX512F__
  if constexpr (!streaming) {
    done = relax_vectors<Value, store<Value>, 0>(out, low, high, count);
  } else if (begins_line(out[0]) && begins_line(out[1])) {
    // A processor's own prefetching does not keep up: it ends with every page.
    constexpr std::int64_t ahead = 6144;
    done = relax_vectors<Value, stream<Value>, ahead>(out, low, high, count);
  }
#endif
  constexpr auto rest = streaming ? stream_rest<Value> : relax_rest<Value>;
  rest(done, out[0], low, count);
  rest(done, out[1], high, count);
}

template void relax(double*, const Planes<double>&, std::int64_t, std::int64_t);
template void relax(float*, const Planes<float>&, std::int64_t, std::int64_t);
template void relax_two<double, Stores::plain>(const std::array<double*, 2>&, const Planes<double>&,
                                               const double*, std::int64_t, std::int64_t);
template void relax_two<double, Stores::streaming>(const std::array<double*, 2>&,
                                                   const Planes<double>&, const double*,
                                                   std::int64_t, std::int64_t);
template void relax_two<float, Stores::plain>(const std::array<float*, 2>&, const Planes<float>&,
                                              const float*, std::int64_t, std::int64_t);
template void relax_two<float, Stores::streaming>(const std::array<float*, 2>&,
                                                  const Planes<float>&, const float*, std::int64_t,
                                                  std::int64_t);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Values of one vector register, written with the compiler's vector extension.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

namespace halobench {

template <class Value>
struct Vector {
#ifdef __AVX512F__
  static constexpr std::int64_t bytes = 64;
#elif defined(__AVX__)
  static constexpr std::int64_t bytes = 32;
#else
  static constexpr std::int64_t bytes = 16;
#endif
  static constexpr std::int64_t size = bytes / sizeof(Value);
  typedef Value Type __attribute__((vector_size(bytes)));
};

template <class Value>
using Values = typename Vector<Value>::Type;

template <class Value>
inline Values<Value> load(const Value* from) {
  Values<Value> values;
  std::memcpy(&values, from, sizeof(values));
  return values;
}

template <class Value>
inline void store(Value* to, const Values<Value>& values) {
  std::memcpy(to, &values, sizeof(values));
}

template <class Value>
inline Values<Value> repeated(Value value) {
  return value - Values<Value>{};  // not plus, which would turn -0 into 0
}

/// The values from the one at `shift` on of two vectors side by side.
template <class Value, int shift>
inline Values<Value> shuffle(const Values<Value>& low, const Values<Value>& high) {
  return [&]<int... i>(std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(low, high, (i + shift)...);
  }(std::make_integer_sequence<int, Vector<Value>::size>{});
}

/// The value before each of `here`: `before` is the vector to the left.
template <class Value>
inline Values<Value> left_neighbours(const Values<Value>& before, const Values<Value>& here) {
  return shuffle<Value, Vector<Value>::size - 1>(before, here);
}

/// The value after each of `here`: `after` is the vector to the right.
template <class Value>
inline Values<Value> right_neighbours(const Values<Value>& here, const Values<Value>& after) {
  return shuffle<Value, 1>(here, after);
}

template <class Value>
inline Value sum_of(const Values<Value>& values) {
  Value sum = 0;
  for (std::int64_t i = 0; i < Vector<Value>::size; ++i) sum += values[i];
  return sum;
}

}  // namespace halobench

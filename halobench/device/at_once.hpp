// SPDX-License-Identifier: BSD-3-Clause
// Values that several threads of a device change at once.
#pragma once

#include <atomic>
#include <type_traits>

#include "device/anywhere.hpp"

namespace halobench {

/// `there` becomes join(there, arrived), also where others do the same with it: each change is
/// made, in no order.
template <class Value, class Join>
HALOBENCH_ANYWHERE void join_at_once(Value& there, Value arrived, const Join& join) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  using Bits = std::conditional_t<sizeof(Value) == 8, unsigned long long, unsigned>;
  static_assert(sizeof(Value) == sizeof(Bits));
  auto* place = reinterpret_cast<Bits*>(&there);
  Bits found = *place;
  for (Bits expected = found + 1; expected != found;) {
    expected = found;
    const Value joined = join(__builtin_bit_cast(Value, expected), arrived);
    found = atomicCAS(place, expected, __builtin_bit_cast(Bits, joined));
  }
#else
  std::atomic_ref place(there);
  Value expected = place.load();
  while (!place.compare_exchange_weak(expected, join(expected, arrived))) continue;
#endif
}

/// Adds to a value that others add to at once: on a GPU by what its memory does itself, which tries
/// nothing again.
template <class Value>
HALOBENCH_ANYWHERE void add_at_once(Value& there, Value arrived) {
#if (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600) || defined(__HIP_DEVICE_COMPILE__)
  atomicAdd(&there, arrived);
#else  // GPUs before Pascal add no doubles
  join_at_once(there, arrived, [](Value one, Value other) { return one + other; });
#endif
}

}  // namespace halobench

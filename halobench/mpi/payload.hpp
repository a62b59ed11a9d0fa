// SPDX-License-Identifier: BSD-3-Clause
// The contents of a message, as MPI's arguments.
#pragma once

#include <mpi.h>

#include <concepts>
#include <cstdint>
#include <ranges>

namespace halobench {

/// A buffer of numbers, or whatever a committed type picks out of memory.
struct Payload {
  Payload() = default;
  Payload(void* memory, MPI_Datatype picked) : first(memory), count(1), type(picked) {}
  template <std::ranges::contiguous_range Numbers>
  Payload(Numbers&& numbers)
      : first(std::ranges::data(numbers)),
        count(std::ranges::ssize(numbers)),
        type(std::same_as<std::ranges::range_value_t<Numbers>, float> ? MPI_FLOAT : MPI_DOUBLE) {
    static_assert(std::floating_point<std::ranges::range_value_t<Numbers>>);
  }

  void* first = nullptr;
  std::int64_t count = 0;
  MPI_Datatype type = MPI_DOUBLE;
};

}  // namespace halobench

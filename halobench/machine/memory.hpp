// SPDX-License-Identifier: BSD-3-Clause
// allocate(): the one source of a kernel's large arrays, counted; and what the system observes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "base/as_size.hpp"

namespace halobench {

/// Large arrays on huge pages, where the system has them to give, or all on the pages that malloc
/// gives.
enum class Pages { huge, ordinary };

/// Uninitialised memory for `size()` values, aligned to 64 bytes and, where large, to huge pages.
/// The first thread that writes a page places it.
template <class Value>
class Buffer {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  Buffer() = default;
  Buffer(void* memory, std::size_t size, void (*release)(void*))
      : memory_(memory, release), size_(size) {}

  Value* data() const { return static_cast<Value*>(memory_.get()); }
  std::size_t size() const { return size_; }
  Value& operator[](std::size_t i) const { return data()[i]; }
  std::span<Value> span() const { return {data(), size_}; }

 private:
  std::unique_ptr<void, void (*)(void*)> memory_{nullptr, nullptr};
  std::size_t size_ = 0;
};

/// Hands out a kernel's arrays and counts them. Under simulation without execution they are
/// addresses alone: nothing is spent on what is never written.
class Memory {
 public:
  explicit Memory(bool unused) : unused_(unused) {}

  template <class Value>
  Buffer<Value> allocate(std::int64_t count, Pages pages = Pages::huge) {
    const auto bytes = as_size(count) * sizeof(Value);
    void (*release)(void*) = nullptr;
    void* memory = acquire(bytes, pages, release);
    return Buffer<Value>(memory, as_size(count), release);
  }

  /// Memory that others hand out: a device.
  void count(std::int64_t bytes) { allocated_bytes_ += bytes; }

  std::int64_t allocated_bytes() const { return allocated_bytes_; }

 private:
  void* acquire(std::size_t bytes, Pages pages, void (*&release)(void*));

  bool unused_;
  std::int64_t allocated_bytes_ = 0;
};

/// Requests huge pages for memory that was not written yet: a page fault takes as long as writing
/// hundreds of values.
void wish_huge_pages(void* memory, std::size_t bytes);

/// Memory that std::free() releases, with such a wish, aligned to cache lines. A star forest of a
/// million random edges takes 9.0 ms with it, 10.3 ms where large vectors are aligned to huge
/// pages, and 12.0 ms with malloc's alignment, which causes 20 times as many page faults.
void* allocate_for_vector(std::size_t bytes);

/// For vectors that may be large. resize() leaves new values uninitialised.
template <class Value>
struct HugePageAllocator {
  using value_type = Value;

  HugePageAllocator() = default;
  template <class Other>
  HugePageAllocator(const HugePageAllocator<Other>& /*other*/) {}

  Value* allocate(std::size_t count) {
    return static_cast<Value*>(allocate_for_vector(count * sizeof(Value)));
  }
  void deallocate(Value* memory, std::size_t /*count*/) { std::free(memory); }
  template <class Other, class... Arguments>
  void construct(Other* place, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(place)) Other;
    } else {
      ::new (static_cast<void*>(place)) Other(std::forward<Arguments>(arguments)...);
    }
  }
  bool operator==(const HugePageAllocator& /*other*/) const { return true; }
};

/// Resident now, and at its peak, of this process (VmRSS, VmHWM); -1 where the system doesn't say.
struct ResidentMemory {
  std::int64_t now_bytes = -1;
  std::int64_t peak_bytes = -1;
};
ResidentMemory resident_memory();

}  // namespace halobench

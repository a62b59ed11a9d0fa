// SPDX-License-Identifier: BSD-3-Clause
// Buffers: alignment, counting, ownership; what the system observes.
#include <cstdint>
#include <new>
#include <utility>

#include "base/as_size.hpp"
#include "base/simulation.hpp"
#include "expect.hpp"
#include "machine/memory.hpp"

using halobench::as_size;
using halobench::Buffer;
using halobench::Memory;

namespace {

template <class Value>
std::uintptr_t misalignment(const Buffer<Value>& buffer, std::uintptr_t unit) {
  return reinterpret_cast<std::uintptr_t>(buffer.data()) % unit;
}

void buffers_are_aligned() {
  Memory memory(false);
  for (const std::int64_t count : {0, 1, 7, 1000, 100000}) {
    expect::equal(misalignment(memory.allocate<double>(count), 64), 0U);
  }
  expect::equal(misalignment(memory.allocate<double>(1 << 20), 2 << 20), 0U);
}

void ordinary_pages_are_aligned_to_lines() {
  Memory memory(false);
  for (const std::int64_t count : {0, 7, 1 << 20}) {
    const auto buffer = memory.allocate<double>(count, halobench::Pages::ordinary);
    expect::equal(misalignment(buffer, 64), 0U);
  }
}

void all_of_a_buffer_is_there() {
  Memory memory(false);
  for (const std::int64_t count : {0, 1, 9, 1000003}) {
    const auto buffer = memory.allocate<std::int32_t>(count);
    expect::equal(buffer.size(), as_size(count));
    std::int32_t next = 0;
    for (auto& value : buffer.span()) value = next++;
    if (count > 0) expect::equal(buffer[buffer.size() - 1], count - 1);
  }
}

void bytes_are_counted_as_asked_for() {
  Memory memory(false);
  expect::equal(memory.allocated_bytes(), 0);
  {
    const auto buffer = memory.allocate<double>(3);
  }
  const auto other = memory.allocate<char>(5);
  expect::equal(memory.allocated_bytes(), 29);
}

void buffers_move() {
  Memory memory(false);
  auto first = memory.allocate<int>(4);
  first[3] = 42;
  const auto second = std::move(first);
  expect::equal(second[3], 42);
  expect::equal(second.size(), 4U);
  expect::equal(Buffer<int>().size(), 0U);
}

void too_much_is_an_error() {
  Memory memory(false);
  expect::throws<std::bad_alloc>([&] { memory.allocate<double>(std::int64_t{1} << 58); }, "");
}

void only_a_simulation_passes_time_and_leaves_memory_alone() {
  expect::throws<std::logic_error>([] { halobench::pass_time(1); }, "only in simulations");
  Memory memory(true);
  expect::throws<std::logic_error>([&] { memory.allocate<char>(1); }, "only in simulations");
}

void resident_memory_grows_with_what_is_touched() {
  const auto before = halobench::resident_memory();
  Memory memory(false);
  const std::int64_t bytes = 64 << 20;
  const auto buffer = memory.allocate<char>(bytes);
  for (std::size_t i = 0; i < buffer.size(); i += 4096) buffer[i] = 1;
  const auto after = halobench::resident_memory();
  expect::is_true(before.now_bytes > 0, "the system reports resident memory");
  expect::is_true(after.now_bytes >= before.now_bytes + bytes / 2, "touched pages are resident");
  expect::is_true(after.peak_bytes >= after.now_bytes, "the peak is the most there was");
}

}  // namespace

int main() {
  buffers_are_aligned();
  ordinary_pages_are_aligned_to_lines();
  all_of_a_buffer_is_there();
  bytes_are_counted_as_asked_for();
  buffers_move();
  too_much_is_an_error();
  only_a_simulation_passes_time_and_leaves_memory_alone();
  resident_memory_grows_with_what_is_touched();
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
#include "machine/memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include "base/simulation.hpp"

namespace halobench {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

void* Memory::acquire(std::size_t bytes, Pages pages, void (*&release)(void*)) {
  allocated_bytes_ += static_cast<std::int64_t>(bytes);
  if (bytes == 0) bytes = cache_line;
  if (unused_) {
    release = free_unused;
    return allocate_unused(bytes);
  }
  release = std::free;
  const bool large = pages == Pages::huge && bytes >= 2 * huge_page;
  const auto unit = large ? huge_page : cache_line;
  void* memory = std::aligned_alloc(unit, round_up(bytes, unit));
  if (memory == nullptr) throw std::bad_alloc();
  // A wish: where transparent huge pages are off, small pages serve.
  if (large) madvise(memory, round_up(bytes, unit), MADV_HUGEPAGE);
  return memory;
}

void wish_huge_pages(void* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const auto begin = round_up(address, huge_page);
  const auto end = (address + bytes) / huge_page * huge_page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

void* allocate_for_vector(std::size_t bytes) {
  void* memory = std::aligned_alloc(cache_line, round_up(bytes, cache_line));
  if (memory == nullptr) throw std::bad_alloc();
  wish_huge_pages(memory, bytes);
  return memory;
}

ResidentMemory resident_memory() {
  ResidentMemory resident;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) resident.now_bytes = std::stoll(line.substr(6)) * 1024;
    if (line.starts_with("VmHWM:")) resident.peak_bytes = std::stoll(line.substr(6)) * 1024;
  }
  return resident;
}

}  // namespace halobench

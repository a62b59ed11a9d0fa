// SPDX-License-Identifier: BSD-3-Clause
#include "device/emulated/guarded_memory.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <stdexcept>

#include "base/as_size.hpp"
#include "machine/memory.hpp"

namespace halobench {
namespace {

constexpr std::size_t alignment = 64;
/// Of each of the two: addresses are never given out again, and cost nothing.
constexpr std::size_t range_bytes = std::size_t{1} << 40U;
constexpr int fault_code = 3;  ///< as a program ends that threw
constexpr int most_calls = 32;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// What was allocated, by its place in a range.
struct Allocation {
  std::size_t begin;
  std::size_t bytes;
  std::size_t pages_begin;
  std::size_t pages_bytes;
  bool released;
};

/// The two ranges of addresses, the open one after the guarded one.
class Ranges {
 public:
  Ranges() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* start = mmap(nullptr, 2 * range_bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
      throw std::runtime_error(
          "an emulated device needs 2 TiB of address space (not memory); run ulimit -v unlimited");
    }
    start_ = static_cast<std::byte*>(start);
  }

  void* allocate(std::size_t bytes) {
    const auto whole = round_up(std::max(bytes, alignment), alignment);
    const auto pages = round_up(whole, page_);
    if (pages + page_ > range_bytes - next_) throw std::bad_alloc();
    auto* open = start_ + range_bytes + next_;
    if (mprotect(open, pages, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    wish_huge_pages(open, pages);
    std::memset(open, 0xff, pages);
    const auto begin = next_ + pages - whole;
    allocations_[begin] = {begin, bytes, next_, pages, false};
    next_ += pages + page_;
    return start_ + begin;
  }

  void release(const void* guarded) {
    auto& found = allocations_.at(offset(guarded));
    auto* open = start_ + range_bytes + found.pages_begin;
    madvise(open, found.pages_bytes, MADV_DONTNEED);
    mprotect(open, found.pages_bytes, PROT_NONE);
    found.released = true;
  }

  bool has(const void* address) const {
    const auto at = offset(address);
    if (at >= range_bytes) return false;
    const auto* found = before(at);
    return found != nullptr && !found->released && at < found->begin + found->bytes;
  }

  /// Null for other memory; the end of an array is an address of it, too.
  void* open(const void* guarded) const {
    const auto at = offset(guarded);
    const auto* found = at < range_bytes ? before(at) : nullptr;
    const bool its = found != nullptr && !found->released && at <= found->begin + found->bytes;
    return its ? start_ + range_bytes + at : nullptr;
  }

  /// From the first guarded address, which may be less: then a large number.
  std::size_t offset(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(start_);
  }

  /// The allocation that begins there or before, the last of them.
  const Allocation* before(std::size_t at) const {
    const auto after = allocations_.upper_bound(at);
    return after == allocations_.begin() ? nullptr : &std::prev(after)->second;
  }

 private:
  std::size_t page_;
  std::byte* start_ = nullptr;
  std::size_t next_ = 0;
  std::map<std::size_t, Allocation> allocations_;
};

Ranges& ranges();

std::array<char, 64>& own_name() {
  static std::array<char, 64> name{};
  return name;
}

struct sigaction& handler_before() {
  static struct sigaction before{};
  return before;
}

const char* kind_of_access(const void* context) {
#if defined(__x86_64__)
  constexpr greg_t writes = 2;
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
  return (machine->gregs[REG_ERR] & writes) != 0 ? "a store" : "a load";
#else
  static_cast<void>(context);
  return "a load or store";
#endif
}

/// Where a byte lies, in words.
void describe(std::size_t at, std::array<char, 160>& text) {
  const auto* found = ranges().before(at);
  if (found == nullptr) {
    std::snprintf(text.data(), text.size(), "before all arrays");
  } else if (at < found->begin + found->bytes) {
    std::snprintf(text.data(), text.size(), "byte %zu of %s array of %zu bytes", at - found->begin,
                  found->released ? "a freed" : "an", found->bytes);
  } else {
    std::snprintf(text.data(), text.size(), "%zu bytes after the end of %s array of %zu bytes",
                  at - found->begin - found->bytes, found->released ? "a freed" : "an",
                  found->bytes);
  }
}

/// The calls that led to the fault. An address of a program is what addr2line -e takes.
void print_calls() {
  std::array<void*, most_calls> calls{};
  const int count = backtrace(calls.data(), most_calls);
  for (int i = 2; i < count; ++i) {  // the first two are of this handler
    Dl_info info{};
    void* call = calls[static_cast<std::size_t>(i)];
    if (dladdr(call, &info) == 0) continue;
    int status = -1;
    char* readable = nullptr;
    if (info.dli_sname != nullptr) {
      readable = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    }
    const char* name = readable != nullptr ? readable : info.dli_sname;
    std::fprintf(
        stderr, "  %s (%s +0x%zx)\n", name != nullptr ? name : "a local function", info.dli_fname,
        reinterpret_cast<std::uintptr_t>(call) - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
  }
}

/// Memory that is not ours is somebody else's fault. The rest ends here, so that what is not safe
/// in a handler (printing, names of functions) costs at worst the message.
void on_fault(int signal, siginfo_t* info, void* context) {
  auto at = ranges().offset(info->si_addr);
  if (at >= 2 * range_bytes) {
    sigaction(signal, &handler_before(), nullptr);  // the access is tried again, and theirs
    return;
  }
  static std::atomic_flag reported;
  if (reported.test_and_set()) pause();
  const bool open = at >= range_bytes;
  if (open) at -= range_bytes;
  std::array<char, 160> place{};
  describe(at, place);
  std::fprintf(stderr, "halobench: %s%s%s of a device's memory, %s: %s\n", own_name().data(),
               own_name()[0] != 0 ? ": " : "", kind_of_access(context), place.data(),
               open ? "a device kernel accessed memory that is not allocated"
                    : "the host accessed it outside a copy or device kernel, or MPI did without "
                      "support for devices");
  print_calls();
  std::fflush(stderr);
  _exit(fault_code);
}

void catch_faults() {
  std::array<void*, 1> call{};
  backtrace(call.data(), 1);  // loads what it needs
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &handler_before());
}

Ranges& ranges() {
  static Ranges all;
  return all;
}

}  // namespace

void* allocate_guarded(std::int64_t bytes) {
  [[maybe_unused]] static const bool caught = (ranges(), catch_faults(), true);
  return ranges().allocate(as_size(bytes));
}

void release_guarded(void* guarded) { ranges().release(guarded); }

bool is_guarded(const void* address) { return ranges().has(address); }

void* open_address(const void* guarded) {
  void* open = ranges().open(guarded);
  if (open == nullptr) {
    throw std::logic_error("the device got an address outside its memory");
  }
  return open;
}

void name_in_faults(const std::string& name) {
  std::snprintf(own_name().data(), own_name().size(), "%s", name.c_str());
}

}  // namespace halobench

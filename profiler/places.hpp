// SPDX-License-Identifier: BSD-3-Clause
// Where in the program MPI is called, and whether the program calls it.
#pragma once

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

// The next function of that name: the MPI library's.
template <class Function>
Function next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (!found) {
    std::fprintf(stderr, "haloscope: the MPI library of this program has no %s\n", name);
    _exit(2);
  }
  Function function;
  static_assert(sizeof function == sizeof found);
  std::memcpy(&function, &found, sizeof function);
  return function;
}

// A text as JSON has it.
std::string json(std::string_view text) {
  std::string out = "\"";
  for (const char sign : text) {
    if (sign == '"' || sign == '\\') out += '\\';
    out += static_cast<unsigned char>(sign) < 0x20 ? ' ' : sign;
  }
  return out + "\"";
}

std::string json(const std::vector<int>& numbers) {
  std::string out = "[";
  for (const int number : numbers) {
    if (out.size() > 1) out += ',';
    out += std::to_string(number);
  }
  return out + "]";
}

// --- where in the program -----------------------------------------------------------------------

enum class Module { program, mpi, binding, counter };

// Whose code lies at an address. A binding is a library of MPI's for another language.
Module module_of(const void* address) {
  static std::unordered_map<const void*, Module> known;  // by where its file begins
  static const void* const mpi = [] {
    Dl_info info{};
    void* function = dlsym(RTLD_NEXT, "PMPI_Init");
    return function && dladdr(function, &info) ? info.dli_fbase : nullptr;
  }();
  Dl_info info{};
  if (!address || dladdr(address, &info) == 0) return Module::program;
  const auto [found, is_new] = known.try_emplace(info.dli_fbase, Module::program);
  if (is_new) {
    Dl_info own{};
    dladdr(reinterpret_cast<const void*>(&module_of), &own);
    std::string_view name = info.dli_fname ? info.dli_fname : "";
    name.remove_prefix(std::min(name.size(), name.rfind('/') + 1));
    if (info.dli_fbase == own.dli_fbase)
      found->second = Module::counter;
    else if (info.dli_fbase == mpi || name.starts_with("mca_"))
      found->second = Module::mpi;
    else if (name.starts_with("libmpi"))
      found->second = Module::binding;
  }
  return found->second;
}

struct Walk {
  bool in_binding = false;
  const void* outside = nullptr;
};

_Unwind_Reason_Code walk(_Unwind_Context* frame, void* to) {
  Walk& own = *static_cast<Walk*>(to);
  const void* address = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
  const Module module = module_of(address);
  if (module == Module::program) {
    own.outside = address;
    return _URC_NORMAL_STOP;
  }
  Dl_info info{};
  if (module == Module::binding)
    own.in_binding = true;
  else if (module == Module::mpi && dladdr(address, &info) && info.dli_sname)
    own.in_binding |= std::string_view(info.dli_sname).starts_with("mpi_") ||
                      std::string_view(info.dli_sname).starts_with("pmpi_");
  return _URC_NO_REASON;
}

// Where the program called MPI, and whether it did: the MPI library calls its own functions, too.
struct Place {
  bool is_call = true;
  const void* address = nullptr;
};

// How many functions of MPI this thread is in: what is called in another one is the library's.
thread_local int depth = 0;

struct Inside {
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

Place place_of(const void* caller) {
  static std::unordered_map<const void*, bool> in_program;
  const auto [found, is_new] = in_program.try_emplace(caller, true);
  if (is_new) found->second = module_of(caller) == Module::program;
  if (found->second) return {true, caller};  // also of a callback that MPI calls
  if (depth > 1) return {false, nullptr};
  Walk own;
  _Unwind_Backtrace(walk, &own);
  return {own.in_binding, own.outside};
}

// A place as JSON says it: its function, its file, and how far in that it is, for addr2line. A
// function that its file does not export is called by its file and how far in it.
std::string place_as_json(const void* place) {
  Dl_info info{};
  link_map* map = nullptr;
  const char* call = static_cast<const char*>(place) - 1;  // it returns to the place
  if (!place || dladdr1(call, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0)
    return "\"function\":\"unknown\"";
  std::string file = info.dli_fname ? info.dli_fname : "program";
  std::string function;
  if (info.dli_sname) {
    int failed = 0;
    char* plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &failed);
    function = failed == 0 && plain ? plain : info.dli_sname;
    std::free(plain);
    function.resize(std::min(function.size(), function.find('(')));
  } else {
    char offset[32];
    std::snprintf(offset, sizeof offset, "+0x%zx",
                  static_cast<std::size_t>(call + 1 - static_cast<const char*>(info.dli_fbase)));
    function = file.substr(file.rfind('/') + 1) + offset;
  }
  char whole[4096];
  if (map && map->l_name && !*map->l_name)  // the program
    if (const auto size = readlink("/proc/self/exe", whole, sizeof whole); size > 0)
      file.assign(whole, static_cast<std::size_t>(size));
  const auto from = map ? reinterpret_cast<const char*>(map->l_addr) : nullptr;
  return "\"function\":" + json(function) + ",\"file\":" + json(file) +
         ",\"offset\":" + std::to_string(call - from);
}

}  // namespace

// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for CUDA's runtime library, as far as halobench asks it: calls are written down and
// done at once, and device kernels run on the host, thread by thread, or those of a warp together
// where they exchange values.
#pragma once

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#define __global__
#define __device__

struct dim3 {
  explicit dim3(unsigned along_x = 1) : x(along_x) {}
  unsigned x;
};

inline thread_local dim3 threadIdx{0}, blockIdx{0};
inline dim3 blockDim, gridDim;

enum cudaError_t {
  cudaSuccess,
  cudaErrorInvalidValue,
  cudaErrorIllegalAddress,
  cudaErrorNotReady
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
using cudaStream_t = int*;
using cudaEvent_t = long*;

struct cudaUUID_t {
  char bytes[16];
};

struct cudaDeviceProp {
  char name[64];
  cudaUUID_t uuid;
};

struct cudaPointerAttributes {
  cudaMemoryType type;
};

namespace stand_in {

/// What was asked of the runtime since somebody took it.
inline std::vector<std::string> calls;
/// The calls that fail, and how.
inline std::map<std::string, cudaError_t> failing;
/// What cudaGetLastError() would give.
inline cudaError_t last = cudaSuccess;
/// What was allocated of the device.
inline std::map<const void*, std::size_t> arrays;

inline std::vector<std::string> take_calls() { return std::exchange(calls, {}); }

inline cudaError_t answer(const std::string& call) {
  calls.push_back(call);
  const auto found = failing.find(call);
  return found == failing.end() ? cudaSuccess : found->second;
}

constexpr unsigned warp = 32;
inline std::array<double, warp> shown;  ///< by the threads of the warp that is running
inline std::barrier<>* of_warp = nullptr;

/// How the device kernels that somebody made known run, by their address.
using Runner = std::function<void(dim3 grid, dim3 block, void** given)>;
inline std::map<const void*, Runner> runners;
/// Whether the threads of a warp run side by side, which takes long.
inline bool as_warps = false;

/// Runs a device kernel with one thread after the other, or warp by warp.
template <class Body>
void run(dim3 grid, dim3 block, const Body& body) {
  gridDim = grid;
  blockDim = block;
  for (unsigned in_grid = 0; in_grid < grid.x; ++in_grid) {
    const auto one = [&](unsigned in_block) {
      blockIdx.x = in_grid;
      threadIdx.x = in_block;
      body();
    };
    for (unsigned first = 0; first < block.x; first += as_warps ? warp : 1) {
      if (!as_warps) {
        one(first);
        continue;
      }
      std::barrier together(warp);
      of_warp = &together;
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < warp; ++i) threads.emplace_back([&, i] { one(first + i); });
    }
  }
}

/// Makes a device kernel known, which is then run when it is launched.
template <class... Given>
void know(void (*kernel)(Given...)) {
  runners[reinterpret_cast<const void*>(kernel)] = [kernel](dim3 grid, dim3 block, void** given) {
    const auto call = [&]<std::size_t... i>(std::index_sequence<i...>) {
      run(grid, block, [&] { kernel(*static_cast<Given*>(given[i])...); });
    };
    call(std::index_sequence_for<Given...>{});
  };
}

}  // namespace stand_in

inline const char* cudaGetErrorString(cudaError_t code) {
  return code == cudaErrorIllegalAddress ? "an illegal memory access" : "invalid argument";
}

inline cudaError_t cudaGetLastError() { return std::exchange(stand_in::last, cudaSuccess); }

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 2;
  return stand_in::answer("GetDeviceCount");
}
inline cudaError_t cudaSetDevice(int number) {
  return stand_in::answer("SetDevice " + std::to_string(number));
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* found, int) {
  std::strcpy(found->name, "Stand-in");
  for (int i = 0; i < 16; ++i) found->uuid.bytes[i] = static_cast<char>(0xf0 + i);
  return stand_in::answer("GetDeviceProperties");
}
inline cudaError_t cudaDeviceGetPCIBusId(char* address, int, int number) {
  std::strcpy(address, ("0000:3B:0" + std::to_string(number) + ".0").c_str());
  return stand_in::answer("DeviceGetPCIBusId");
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13020;
  return stand_in::answer("RuntimeGetVersion");
}

inline cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  stand_in::arrays[*memory] = bytes;
  return stand_in::answer("Malloc");
}
inline cudaError_t cudaFree(void* memory) {
  stand_in::arrays.erase(memory);
  std::free(memory);
  return stand_in::answer("Free");
}
inline cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return stand_in::answer("MallocHost");
}
inline cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return stand_in::answer("FreeHost");
}
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* address) {
  const auto after = stand_in::arrays.upper_bound(address);
  const bool there =
      after != stand_in::arrays.begin() &&
      static_cast<const char*>(address) <
          static_cast<const char*>(std::prev(after)->first) + std::prev(after)->second;
  found->type = there ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  return stand_in::answer("PointerGetAttributes");
}

inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  std::memcpy(to, from, bytes);
  return stand_in::answer("MemcpyAsync");
}

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* made, unsigned flags) {
  *made = new int(0);
  return stand_in::answer("StreamCreate " + std::to_string(flags));
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return stand_in::answer("StreamDestroy");
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return stand_in::answer("StreamSynchronize");
}
inline cudaError_t cudaStreamQuery(cudaStream_t) { return stand_in::answer("StreamQuery"); }
inline cudaError_t cudaDeviceSynchronize() { return stand_in::answer("DeviceSynchronize"); }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* made, unsigned flags) {
  *made = new long(0);
  return stand_in::answer("EventCreate " + std::to_string(flags));
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return stand_in::answer("EventDestroy");
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return stand_in::answer("EventRecord");
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return stand_in::answer("EventSynchronize");
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return stand_in::answer("StreamWaitEvent");
}

inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** given,
                                    std::size_t, cudaStream_t) {
  const auto code = stand_in::answer("LaunchKernel");
  if (code == cudaSuccess) stand_in::runners.at(kernel)(grid, block, given);
  return code;
}

/// All threads of a warp call this together.
inline double __shfl_down_sync(unsigned, double value, unsigned distance, int width) {
  const auto lane = threadIdx.x % stand_in::warp;
  const auto other = lane + distance;
  stand_in::shown[lane] = value;
  stand_in::of_warp->arrive_and_wait();
  const auto own_part = other / static_cast<unsigned>(width) == lane / static_cast<unsigned>(width);
  const double found = stand_in::shown[own_part ? other : lane];
  stand_in::of_warp->arrive_and_wait();
  return found;
}

inline unsigned long long atomicCAS(unsigned long long* place, unsigned long long expected,
                                    unsigned long long desired) {
  __atomic_compare_exchange_n(place, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
inline unsigned atomicCAS(unsigned* place, unsigned expected, unsigned desired) {
  __atomic_compare_exchange_n(place, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

/// As a GPU's memory adds: nobody else's change comes in between.
template <class Value>
Value atomicAdd(Value* place, Value more) {
  stand_in::calls.push_back("atomicAdd");
  return std::exchange(*place, *place + more);
}

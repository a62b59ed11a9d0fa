// SPDX-License-Identifier: BSD-3-Clause
// How a GPU runs a loop: only its compiler reads this.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "device/gpu/gpu_runtime.hpp"

namespace halobench::gpu {

constexpr int block_threads = 256;
/// As many as fill any GPU several times; what is more is done by the same threads, one after the
/// other.
constexpr std::int64_t most_blocks = 1 << 16;

__device__ inline std::int64_t own_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

__device__ inline std::int64_t all_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

/// Neighbouring threads take neighbouring i: what they touch side by side, the memory moves in one
/// go.
template <class Body>
__global__ void run_over(std::int64_t count, Body body) {
  for (auto i = own_index(); i < count; i += all_threads()) body(i);
}

/// The value of the thread that is `distance` further among the lanes.
template <int lanes>
__device__ inline double from_lane(double value, int distance) {
#if defined(HALOBENCH_HIP)
  return __shfl_down(value, static_cast<unsigned>(distance), lanes);
#else
  return __shfl_down_sync(0xffffffffU, value, static_cast<unsigned>(distance), lanes);
#endif
}

/// The lanes are threads that make a sum together. They take its terms in turn, neighbours
/// neighbouring ones, and add up theirs in pairs: the order of a sum depends on its terms and the
/// lanes alone. All lanes of a warp take part in every turn, also beyond the last.
template <int lanes, class Sums>
__global__ void run_sums(std::int64_t count, Sums sums) {
  const auto turns = (count * lanes + all_threads() - 1) / all_threads();
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const auto thread = own_index() + turn * all_threads();
    const auto i = thread / lanes;
    const auto lane = thread % lanes;
    double sum = 0;
    if (i < count) {
      const auto end = sums.end(i);
      for (auto k = sums.begin(i) + lane; k < end; k += lanes) sum += sums.term(i, k);
    }
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      sum += from_lane<lanes>(sum, distance);
    if (i < count && lane == 0) sums.put(i, sum);
  }
}

inline unsigned blocks_for(std::int64_t threads) {
  const auto blocks = (threads + block_threads - 1) / block_threads;
  return static_cast<unsigned>(std::min(blocks, most_blocks));
}

/// Throws the runtime's error of this launch, not a last error that another library has left, such
/// as an MPI library that queried the kind of an address.
template <class... Given>
void launch(void* stream, std::int64_t threads, void (*kernel)(Given...), Given... given) {
  std::array<void*, sizeof...(Given)> places{&given...};
  require(GPU_RUNTIME(LaunchKernel)(reinterpret_cast<const void*>(kernel),
                                    dim3(blocks_for(threads)), dim3(block_threads), places.data(),
                                    0, static_cast<GPU_RUNTIME(Stream_t)>(stream)),
          "launching a device kernel");
}

template <class Body>
void launch_over(void* stream, std::int64_t count, const Body& body) {
  if (count == 0) return;  // no blocks are an error
  launch(stream, count, run_over<Body>, count, body);
}

/// Each lane has four terms or more of a sum, where it has that many: a thread that loads several
/// waits for memory once.
template <class Sums>
void launch_sums(void* stream, std::int64_t count, std::int64_t terms, const Sums& sums) {
  if (count == 0) return;
  const auto with = [&]<int lanes>(std::integral_constant<int, lanes>) {
    launch(stream, count * lanes, run_sums<lanes, Sums>, count, sums);
  };
  const auto mean = (terms + count - 1) / count;
  if (mean <= 16) return with(std::integral_constant<int, 4>());
  if (mean <= 32) return with(std::integral_constant<int, 8>());
  if (mean <= 64) return with(std::integral_constant<int, 16>());
  with(std::integral_constant<int, 32>());
}

}  // namespace halobench::gpu

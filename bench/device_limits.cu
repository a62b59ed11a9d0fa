// SPDX-License-Identifier: BSD-3-Clause
// Limits of a GPU, as a JSON object: bandwidths of copies, and times of the runtime's calls. Each
// is the median over repetitions.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr std::size_t device_bytes = std::size_t{1} << 30;
constexpr std::size_t host_bytes = std::size_t{1} << 28;
constexpr int repetitions = 21;
constexpr int calls = 200;  // fewer than a stream queues

void require(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}

__global__ void nothing() {}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The median of what body() takes, in seconds; before() is not timed.
template <class Before, class Body>
double median_s(const Before& before, const Body& body) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    before();
    const double start = now_s();
    body();
    times.push_back(now_s() - start);
  }
  std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
  return times[repetitions / 2];
}

void wait() { require(cudaDeviceSynchronize()); }

template <class Call>
double call_s(const Call& call) {
  const auto all = [&] {
    for (int i = 0; i < calls; ++i) call();
  };
  all();
  return median_s(wait, all) / calls;
}

double copied_per_s(void* to, const void* from, std::size_t bytes) {
  const auto copy = [&] {
    require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault));
    wait();
  };
  copy();
  return static_cast<double>(bytes) / median_s(wait, copy);
}

}  // namespace

int main() {
  int driver = 0;
  cudaDeviceProp gpu{};
  require(cudaGetDeviceProperties(&gpu, 0));
  require(cudaDriverGetVersion(&driver));
  void *one, *other, *host;
  require(cudaMalloc(&one, device_bytes));
  require(cudaMalloc(&other, device_bytes));
  require(cudaMallocHost(&host, host_bytes));
  require(cudaMemset(one, 1, device_bytes));
  cudaStream_t stream;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const auto launch = [&] {
    nothing<<<1, 1, 0, stream>>>();
    require(cudaGetLastError());
  };
  const auto finish = [&] { require(cudaStreamSynchronize(stream)); };
  const double launch_s = call_s(launch);
  const double stream_sync_s = call_s(finish);
  const double launch_and_wait_s = call_s([&] {
    launch();
    finish();
  });
  cudaPointerAttributes found;
  std::string name = gpu.name;
  std::printf("{\"gpu\": \"%s\", \"driver_cuda\": \"%d.%d\", \"memory_bytes\": %zu", name.c_str(),
              driver / 1000, driver % 1000 / 10, gpu.totalGlobalMem);
  const auto say = [](const char* key, double value) { std::printf(", \"%s\": %.6g", key, value); };
  say("memory_bandwidth_bytes_per_s", 2 * copied_per_s(other, one, device_bytes));
  say("copy_in_bytes_per_s", copied_per_s(one, host, host_bytes));
  say("copy_out_bytes_per_s", copied_per_s(host, one, host_bytes));
  say("launch_s", launch_s);
  say("launch_latency_s", std::max(0.0, launch_and_wait_s - launch_s - stream_sync_s));
  say("stream_sync_s", stream_sync_s);
  say("device_sync_s", call_s(wait));
  say("query_s", call_s([&] { require(cudaPointerGetAttributes(&found, one)); }));
  std::printf("}\n");
}

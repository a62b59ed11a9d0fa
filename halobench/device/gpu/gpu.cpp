// SPDX-License-Identifier: BSD-3-Clause
#include "device/gpu/gpu.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <fstream>

#include "base/as_size.hpp"
#include "base/record.hpp"
#include "device/gpu/gpu_runtime.hpp"

namespace halobench {
namespace {

GPU_RUNTIME(Stream_t) handle(const Gpu& gpu, Stream stream) {
  return static_cast<GPU_RUNTIME(Stream_t)>(gpu.gpu_stream(stream));
}

/// 13000 is 13.0 of CUDA; HIP has a number of other digits.
std::string version() {
  int number = 0;
  require(GPU_RUNTIME(RuntimeGetVersion)(&number), "querying the runtime's version");
#if defined(HALOBENCH_HIP)
  return "HIP " + std::to_string(number / 10000000) + "." + std::to_string(number / 100000 % 100);
#else
  return "CUDA " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
#endif
}

/// Who ends by an exception waits for nothing: what a stream was given may wait for ever, such as
/// for a message of a rank that goes on, and all of a GPU ends with its process.
bool gives_up() { return std::uncaught_exceptions() > 0; }

void release(void* memory) {
  if (gives_up()) return;
  static_cast<void>(GPU_RUNTIME(DeviceSynchronize)());
  static_cast<void>(GPU_RUNTIME(Free)(memory));
}

void release_of_host(void* memory) {
  if (gives_up()) return;
  static_cast<void>(GPU_RUNTIME(DeviceSynchronize)());
#if defined(HALOBENCH_HIP)
  static_cast<void>(hipHostFree(memory));
#else
  static_cast<void>(cudaFreeHost(memory));
#endif
}

}  // namespace

int visible_gpus() {
  int count = 0;
  require(GPU_RUNTIME(GetDeviceCount)(&count), "counting GPUs");
  return count;
}

GpuIdentity gpu_identity(int number) {
  GpuIdentity found;
  constexpr int longest = 32;
  std::array<char, longest> address{};
  require(GPU_RUNTIME(DeviceGetPCIBusId)(address.data(), longest, number),
          "querying a GPU's address");
  found.pci = address.data();
#if !defined(HALOBENCH_HIP)
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, number), "querying a GPU's number");
  found.uuid = "GPU";
  constexpr std::array groups{0, 4, 6, 8, 10};  // of bytes, between dashes
  for (int i = 0; i < 16; ++i) {
    constexpr const char* digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(properties.uuid.bytes[i]);
    if (std::ranges::find(groups, i) != groups.end()) found.uuid += '-';
    found.uuid += digits[byte / 16];
    found.uuid += digits[byte % 16];
  }
#endif
  return found;
}

Gpu::Gpu(int number) : number_(number) {
  require(GPU_RUNTIME(SetDevice)(number), "choosing a GPU");
}

Gpu::~Gpu() {
  if (gives_up()) return;
  static_cast<void>(GPU_RUNTIME(DeviceSynchronize)());
  for (void* event : events_) {
    static_cast<void>(GPU_RUNTIME(EventDestroy)(static_cast<GPU_RUNTIME(Event_t)>(event)));
  }
  for (void* stream : streams_) {
    static_cast<void>(GPU_RUNTIME(StreamDestroy)(static_cast<GPU_RUNTIME(Stream_t)>(stream)));
  }
}

std::string Gpu::name() const {
#if defined(HALOBENCH_HIP)
  hipDeviceProp_t found;
#else
  cudaDeviceProp found;
#endif
  require(GPU_RUNTIME(GetDeviceProperties)(&found, number_), "querying a GPU's name");
  return std::string(found.name) + " (" + version() + ")";
}

/// As a record has it; which memory of the node it is next to, the system tells.
std::string Gpu::identity() const {
  const auto [uuid, pci] = gpu_identity(number_);
  auto address = pci;
  for (auto& letter : address) letter = static_cast<char>(std::tolower(letter));
  std::ifstream file("/sys/bus/pci/devices/" + address + "/numa_node");
  int numa = -1;
  file >> numa;
  return Json::object()
      .set("uuid", uuid.empty() ? Json() : Json(uuid))
      .set("pci", pci)
      .set("numa", numa < 0 ? Json() : Json(numa))
      .dump();
}

Buffer<std::byte> Gpu::allocate(std::int64_t bytes) {
  void* memory = nullptr;
  require(GPU_RUNTIME(Malloc)(&memory, as_size(bytes)), "allocating a GPU's memory");
  return {memory, as_size(bytes), release};
}

Buffer<std::byte> Gpu::allocate_on_host(std::int64_t bytes) {
  void* memory = nullptr;
#if defined(HALOBENCH_HIP)
  require(hipHostMalloc(&memory, as_size(bytes), hipHostMallocDefault), "pinning memory");
#else
  require(cudaMallocHost(&memory, as_size(bytes)), "pinning memory");
#endif
  return {memory, as_size(bytes), release_of_host};
}

bool Gpu::has(const void* address) const {
#if defined(HALOBENCH_HIP)
  hipPointerAttribute_t found;
  if (hipPointerGetAttributes(&found, address) != hipSuccess) {
    static_cast<void>(hipGetLastError());  // that of an address that it does not know
    return false;
  }
#if HIP_VERSION_MAJOR >= 6
  return found.type == hipMemoryTypeDevice;
#else
  return found.memoryType == hipMemoryTypeDevice;
#endif
#else
  cudaPointerAttributes found;
  require(cudaPointerGetAttributes(&found, address), "querying the memory of an address");
  return found.type == cudaMemoryTypeDevice;
#endif
}

Stream Gpu::new_stream() {
  GPU_RUNTIME(Stream_t) made{};
  require(GPU_RUNTIME(StreamCreateWithFlags)(&made, GPU_RUNTIME(StreamNonBlocking)),
          "creating a stream");
  streams_.push_back(made);
  return {static_cast<int>(streams_.size()) - 1};
}

Event Gpu::new_event() {
  GPU_RUNTIME(Event_t) made{};
  require(GPU_RUNTIME(EventCreateWithFlags)(&made, GPU_RUNTIME(EventDisableTiming)),
          "creating an event");
  events_.push_back(made);
  return {static_cast<int>(events_.size()) - 1};
}

void Gpu::launch(Stream /*stream*/, const Traffic& /*traffic*/, std::function<void()> /*work*/) {
  throw std::logic_error("a device kernel that the GPU's compiler did not compile");
}

void Gpu::copy_in(Stream stream, const void* host, void* to, std::int64_t bytes) {
  require(GPU_RUNTIME(MemcpyAsync)(to, host, as_size(bytes), GPU_RUNTIME(MemcpyHostToDevice),
                                   handle(*this, stream)),
          "copying to a GPU");
}

void Gpu::copy_out(Stream stream, const void* from, void* host, std::int64_t bytes) {
  require(GPU_RUNTIME(MemcpyAsync)(host, from, as_size(bytes), GPU_RUNTIME(MemcpyDeviceToHost),
                                   handle(*this, stream)),
          "copying from a GPU");
}

/// Memory that is not pinned may still be read when the call has returned.
void Gpu::upload(Stream stream, const void* host, void* to, std::int64_t bytes) {
  if (bytes == 0) return;
  copy_in(stream, host, to, bytes);
  synchronise(stream);
}

void Gpu::download(Stream stream, const void* from, void* host, std::int64_t bytes) {
  if (bytes > 0) copy_out(stream, from, host, bytes);
  synchronise(stream);
}

void Gpu::record(Event event, Stream stream) {
  require(
      GPU_RUNTIME(EventRecord)(static_cast<GPU_RUNTIME(Event_t)>(events_[as_size(event.number)]),
                               handle(*this, stream)),
      "recording an event");
}

void Gpu::wait(Stream stream, Event event) {
  require(GPU_RUNTIME(StreamWaitEvent)(
              handle(*this, stream),
              static_cast<GPU_RUNTIME(Event_t)>(events_[as_size(event.number)]), 0),
          "waiting for an event");
}

void Gpu::synchronise(Event event) {
  require(GPU_RUNTIME(EventSynchronize)(
              static_cast<GPU_RUNTIME(Event_t)>(events_[as_size(event.number)])),
          "synchronising an event");
}

void Gpu::synchronise(Stream stream) {
  require(GPU_RUNTIME(StreamSynchronize)(handle(*this, stream)), "synchronising a stream");
}

void Gpu::synchronise() { require(GPU_RUNTIME(DeviceSynchronize)(), "synchronising a GPU"); }

bool Gpu::is_waited_for() const {
  for (void* stream : streams_) {
    const auto answer = GPU_RUNTIME(StreamQuery)(static_cast<GPU_RUNTIME(Stream_t)>(stream));
    if (answer == GPU_RUNTIME(ErrorNotReady)) return false;
    require(answer, "querying a stream");
  }
  return true;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "device/message_buffer.hpp"

#include <algorithm>

namespace halobench {

BufferOnDevice::BufferOnDevice(Device& device, Stream stream, Memory& memory,
                               const Buffer<unsigned char>& host, bool staged)
    : device_(device),
      stream_(stream),
      host_(host.data()),
      bytes_(static_cast<std::int64_t>(host.size())),
      memory_(device.allocate(std::max<std::int64_t>(1, bytes_))) {
  memory.count(bytes_);
  if (!staged) return;
  stage_ = device.allocate_on_host(std::max<std::int64_t>(1, bytes_));
  memory.count(bytes_);
}

void BufferOnDevice::upload() {
  device_.upload(stream_, host_, memory_.data(), bytes_);
  device_.synchronise(stream_);
}

void BufferOnDevice::download() const { device_.download(stream_, memory_.data(), host_, bytes_); }

std::byte* BufferOnDevice::on_device(const unsigned char* place) const {
  return memory_.data() + (place - host_);
}

const void* BufferOnDevice::outgoing(const unsigned char* place, std::int64_t bytes) {
  void* own = on_device(place);
  if (stage_.data() == nullptr) return device_.reach(own);
  void* stage = stage_.data() + (place - host_);
  device_.copy_out(stream_, own, stage, bytes);
  device_.synchronise(stream_);
  return stage;
}

void* BufferOnDevice::incoming(const unsigned char* place) const {
  if (stage_.data() != nullptr) return stage_.data() + (place - host_);
  return device_.reach(static_cast<void*>(on_device(place)));
}

void BufferOnDevice::arrived(const unsigned char* place, std::int64_t bytes) {
  if (stage_.data() == nullptr) return;
  device_.copy_in(stream_, stage_.data() + (place - host_), on_device(place), bytes);
  device_.synchronise(stream_);
}

std::pair<std::unique_ptr<BufferOnDevice>, std::unique_ptr<BufferOnDevice>> buffers_on_device(
    Device& device, Memory& memory, const Buffer<unsigned char>& sent,
    const Buffer<unsigned char>& received, bool staged) {
  const auto stream = device.new_stream();
  const auto on_device = [&](const Buffer<unsigned char>& host) {
    return std::make_unique<BufferOnDevice>(device, stream, memory, host, staged);
  };
  return {on_device(sent), on_device(received)};
}

}  // namespace halobench

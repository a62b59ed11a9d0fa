// SPDX-License-Identifier: BSD-3-Clause
#include "device/message_buffer.hpp"

#include <algorithm>

namespace halobench {
namespace {

class DeviceCopy : public BufferOnDevice {
 public:
  DeviceCopy(Device& device, Stream stream, Memory& memory, const Buffer<unsigned char>& host,
             bool staged);

  void upload() override;
  void download() const override;
  const void* outgoing(const unsigned char* place, std::int64_t bytes) override;
  void* incoming(const unsigned char* place) const override;
  void arrived(const unsigned char* place, std::int64_t bytes) override;

 private:
  std::byte* on_device(const unsigned char* place) const;

  Device& device_;
  Stream stream_;
  unsigned char* host_;
  std::int64_t bytes_;
  Buffer<std::byte> memory_;
  Buffer<std::byte> stage_;  ///< none where MPI takes the device's memory
};

DeviceCopy::DeviceCopy(Device& device, Stream stream, Memory& memory,
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

void DeviceCopy::upload() {
  device_.upload(stream_, host_, memory_.data(), bytes_);
  device_.synchronise(stream_);
}

void DeviceCopy::download() const { device_.download(stream_, memory_.data(), host_, bytes_); }

std::byte* DeviceCopy::on_device(const unsigned char* place) const {
  return memory_.data() + (place - host_);
}

const void* DeviceCopy::outgoing(const unsigned char* place, std::int64_t bytes) {
  void* own = on_device(place);
  if (stage_.data() == nullptr) return device_.reach(own);
  void* stage = stage_.data() + (place - host_);
  device_.copy_out(stream_, own, stage, bytes);
  device_.synchronise(stream_);
  return stage;
}

void* DeviceCopy::incoming(const unsigned char* place) const {
  if (stage_.data() != nullptr) return stage_.data() + (place - host_);
  return device_.reach(static_cast<void*>(on_device(place)));
}

void DeviceCopy::arrived(const unsigned char* place, std::int64_t bytes) {
  if (stage_.data() == nullptr) return;
  device_.copy_in(stream_, stage_.data() + (place - host_), on_device(place), bytes);
  device_.synchronise(stream_);
}

}  // namespace

Buffers buffers_on_device(Device& device, Memory& memory, const Buffer<unsigned char>& sent,
                          const Buffer<unsigned char>& received, bool staged) {
  const auto stream = device.new_stream();
  const auto on_device = [&](const Buffer<unsigned char>& host) {
    return std::make_unique<DeviceCopy>(device, stream, memory, host, staged);
  };
  return {on_device(sent), on_device(received)};
}

}  // namespace halobench

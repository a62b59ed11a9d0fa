// SPDX-License-Identifier: BSD-3-Clause
#include "device/emulated.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "device/guarded_memory.hpp"

namespace halobench {

namespace {

/// Of a clock that threads may ask; MPI's is for one of them. An emulated device is never used
/// under simulation, where this would be the wrong clock.
double now_s() {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now().time_since_epoch();
  return since.count();
}

}  // namespace

/// A stream: a thread, and what it was given.
class EmulatedDevice::Worker {
 public:
  explicit Worker(Lag lag) : lag_(lag), thread_([this] { work_until_closed(); }) {}

  ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// name: by which it is traced; null: it is not.
  void give(std::function<void()> work, const char* name = nullptr) {
    {
      const std::scoped_lock lock(mutex_);
      given_.push_back({std::move(work), name});
      ++works_;
    }
    changed_.notify_all();
  }

  std::int64_t works() const { return works_; }

  /// It does no more, and nobody waits for it.
  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  void join() { thread_.join(); }

  /// Works with a name that were done since this was asked, by the clock above.
  std::vector<Span> take_spans() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(spans_, {});
  }

  /// Returns when so many have been done.
  void wait_for(std::int64_t works) {
    std::unique_lock lock(mutex_);
    if (done_ >= works) return;
    wanted_ = std::max(wanted_, works);
    changed_.notify_all();
    changed_.wait(lock, [&] { return done_ >= works || closed_; });
  }

 private:
  void work_until_closed() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closed_ || (!given_.empty() && is_due()); });
      if (closed_) return;
      {
        const auto [work, name] = std::move(given_.front());
        given_.pop_front();
        lock.unlock();
        const double begin_s = name != nullptr ? now_s() : 0;
        work();
        const double end_s = name != nullptr ? now_s() : 0;
        lock.lock();
        if (name != nullptr) spans_.push_back({name, 0, begin_s, end_s});
      }
      ++done_;
      changed_.notify_all();
    }
  }

  bool is_due() const { return lag_ == Lag::none || done_ < wanted_; }

  Lag lag_;
  std::mutex mutex_;
  std::condition_variable changed_;
  struct Work {
    std::function<void()> work;
    const char* name;
  };
  std::deque<Work> given_;
  std::int64_t works_ = 0;   ///< given until now; only the host's thread asks
  std::int64_t done_ = 0;    ///< of these
  std::int64_t wanted_ = 0;  ///< somebody waits for so many
  bool closed_ = false;
  std::vector<Span> spans_;
  std::thread thread_;  ///< last, as it uses all the others
};

namespace {

/// All that are there, so that memory is freed when none works with it.
std::vector<EmulatedDevice*>& devices() {
  static std::vector<EmulatedDevice*> all;
  return all;
}

void refuse_nothing(std::int64_t bytes) {
  if (bytes < 1) throw std::logic_error("memory of no bytes was asked of a device");
}

void release(void* memory) {
  for (auto* device : devices()) device->synchronise();
  release_guarded(memory);
}

}  // namespace

EmulatedDevice::EmulatedDevice(Lag lag) : lag_(lag) { devices().push_back(this); }

EmulatedDevice::~EmulatedDevice() {
  std::erase(devices(), this);
  for (const auto& worker : workers_) worker->close();
  for (const auto& worker : workers_) worker->join();  // none waits for one that is gone
}

Buffer<std::byte> EmulatedDevice::allocate(std::int64_t bytes) {
  refuse_nothing(bytes);
  return {allocate_guarded(bytes), as_size(bytes), release};
}

Buffer<std::byte> EmulatedDevice::allocate_on_host(std::int64_t bytes) {
  refuse_nothing(bytes);
  constexpr std::size_t line = 64;
  void* memory = std::aligned_alloc(line, (as_size(bytes) + line) / line * line);
  if (memory == nullptr) throw std::bad_alloc();
  const auto release_after_work = [](void* address) {
    for (auto* device : devices()) device->synchronise();
    std::free(address);
  };
  return {memory, as_size(bytes), release_after_work};
}

bool EmulatedDevice::has(const void* address) const { return is_guarded(address); }

void* EmulatedDevice::reach(void* address) const { return open_address(address); }

Stream EmulatedDevice::new_stream() {
  workers_.push_back(std::make_unique<Worker>(lag_));
  return {static_cast<int>(workers_.size()) - 1};
}

Event EmulatedDevice::new_event() {
  moments_.emplace_back();
  return {static_cast<int>(moments_.size()) - 1};
}

void EmulatedDevice::launch(Stream stream, const Traffic& /*traffic*/, std::function<void()> work) {
  worker(stream).give(std::move(work), traced_call());
}

void EmulatedDevice::copy_in(Stream stream, const void* host, void* to, std::int64_t bytes) {
  worker(stream).give([host, bytes, into = reach(to)] { std::memcpy(into, host, as_size(bytes)); },
                      traced_call());
}

void EmulatedDevice::copy_out(Stream stream, const void* from, void* host, std::int64_t bytes) {
  worker(stream).give(
      [host, bytes, out_of = open_address(from)] { std::memcpy(host, out_of, as_size(bytes)); },
      traced_call());
}

void EmulatedDevice::upload(Stream stream, const void* host, void* to, std::int64_t bytes) {
  if (bytes == 0) return;
  const auto* begin = static_cast<const std::byte*>(host);
  worker(stream).give([values = std::vector<std::byte>(begin, begin + bytes), into = reach(to)] {
    std::memcpy(into, values.data(), values.size());
  });
}

void EmulatedDevice::download(Stream stream, const void* from, void* host, std::int64_t bytes) {
  copy_out(stream, from, host, bytes);
  synchronise(stream);
}

void EmulatedDevice::record(Event event, Stream stream) {
  auto& worker = this->worker(stream);
  moment(event) = {&worker, worker.works()};
}

void EmulatedDevice::wait(Stream stream, Event event) {
  const auto then = moment(event);
  if (then.worker == nullptr) return;
  worker(stream).give([then] { then.worker->wait_for(then.works); });
}

void EmulatedDevice::synchronise(Event event) {
  const auto then = moment(event);
  if (then.worker != nullptr) then.worker->wait_for(then.works);
}

void EmulatedDevice::synchronise(Stream stream) {
  auto& worker = this->worker(stream);
  worker.wait_for(worker.works());
}

void EmulatedDevice::synchronise() {
  for (const auto& worker : workers_) worker->wait_for(worker->works());
}

std::vector<Span> EmulatedDevice::traced() {
  synchronise();
  const double between_s = MPI_Wtime() - now_s();  // of the two clocks
  std::vector<Span> spans;
  for (std::size_t stream = 0; stream < workers_.size(); ++stream) {
    for (auto span : workers_[stream]->take_spans()) {
      span.begin_s += between_s;
      span.end_s += between_s;
      span.stream = static_cast<int>(stream);
      spans.push_back(span);
    }
  }
  return spans;
}

EmulatedDevice::Worker& EmulatedDevice::worker(Stream stream) const {
  return *workers_[as_size(stream.number)];
}

EmulatedDevice::Moment& EmulatedDevice::moment(Event event) {
  return moments_[as_size(event.number)];
}

}  // namespace halobench

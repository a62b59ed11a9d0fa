// SPDX-License-Identifier: BSD-3-Clause
#include "device/emulated/emulated.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "device/emulated/guarded_memory.hpp"

namespace halobench {

namespace {

/// Of a clock that threads may ask; MPI's is for one of them. An emulated device is never used
/// under simulation, where this would be the wrong clock.
double now_s() {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now().time_since_epoch();
  return since.count();
}

}  // namespace

/// A stream: what it was given, in order.
class EmulatedDevice::Worker {
 public:
  /// A work, or a moment of another stream that is waited for.
  struct Given {
    std::function<void()> work;
    const char* name = nullptr;  ///< by which it is traced; null: it is not
    Moment awaited = {};
  };

  Worker() = default;
  virtual ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void give(Given given) {
    ++works_;
    if (given.awaited.worker != nullptr) {
      awaited_.emplace_back(works_, given.awaited);
    } else {
      last_work_ = works_;
    }
    add(std::move(given));
  }

  /// Given until now; only the host's thread asks.
  std::int64_t works() const { return works_; }

  /// Returns when so many have been done.
  virtual void wait_for(std::int64_t works) = 0;

  /// The host has waited for so many: so it has for all that these have waited for.
  void set_waited_for(std::int64_t works) {
    waited_for_ = std::max(waited_for_, works);
    while (!awaited_.empty() && awaited_.front().first <= waited_for_) {
      const auto [worker, theirs] = awaited_.front().second;
      awaited_.pop_front();
      worker->set_waited_for(theirs);
    }
  }
  bool is_waited_for() const { return waited_for_ >= last_work_; }

  /// It does no more, and nobody waits for it.
  virtual void close() {}
  virtual void join() {}

  /// Works with a name that were done since this was asked, by the clock above.
  virtual std::vector<Span> take_spans() { return std::exchange(spans_, {}); }

 protected:
  virtual void add(Given given) = 0;

  static std::optional<Span> done(const Given& given) {
    if (given.awaited.worker != nullptr) given.awaited.worker->wait_for(given.awaited.works);
    const double begin_s = given.name != nullptr ? now_s() : 0;
    if (given.work) given.work();
    if (given.name == nullptr) return std::nullopt;
    return Span{given.name, 0, begin_s, now_s()};
  }

  void keep(const std::optional<Span>& span) {
    if (span) spans_.push_back(*span);
  }

 private:
  // Of the host's thread alone.
  std::int64_t works_ = 0;
  std::int64_t last_work_ = 0;   ///< the last one that is not a wait for another stream
  std::int64_t waited_for_ = 0;  ///< by the host
  std::deque<std::pair<std::int64_t, Moment>> awaited_;  ///< by which work, unless that is done

  std::vector<Span> spans_;
};

/// A stream with a thread of its own, which works as soon as it can.
class EmulatedDevice::Thread : public Worker {
 public:
  Thread() : thread_([this] { work_until_closed(); }) {}

  void wait_for(std::int64_t works) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= works || closed_; });
  }

  void close() override {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  void join() override { thread_.join(); }

  std::vector<Span> take_spans() override {
    const std::scoped_lock lock(mutex_);
    return Worker::take_spans();
  }

 private:
  void add(Given given) override {
    {
      const std::scoped_lock lock(mutex_);
      given_.push_back(std::move(given));
    }
    changed_.notify_all();
  }

  void work_until_closed() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closed_ || !given_.empty(); });
      if (closed_) return;
      {
        const auto given = std::move(given_.front());
        given_.pop_front();
        lock.unlock();
        const auto span = Worker::done(given);
        lock.lock();
        keep(span);
      }
      ++done_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Given> given_;
  std::int64_t done_ = 0;  ///< of these
  bool closed_ = false;
  std::thread thread_;  ///< last, as it uses all the others
};

/// A stream whose work the host does when the device's schedule says so.
class EmulatedDevice::Queue : public Worker {
 public:
  explicit Queue(EmulatedDevice& device) : device_(device) {}

  /// Has it work that waits for nothing?
  bool can_work() const {
    if (given_.empty()) return false;
    const auto& [worker, works] = given_.front().awaited;
    return worker == nullptr || static_cast<const Queue*>(worker)->done_ >= works;
  }

  void work() {
    const auto given = std::move(given_.front());
    given_.pop_front();
    ++done_;  // also where it throws: nobody waits for it then
    keep(Worker::done(given));
  }

  void wait_for(std::int64_t works) override {
    while (done_ < works && device_.work_at_random()) continue;
    while (done_ < works) work();
  }

 private:
  void add(Given given) override { given_.push_back(std::move(given)); }

  EmulatedDevice& device_;
  std::deque<Given> given_;
  std::int64_t done_ = 0;
};

namespace {

/// All that are there, so that memory is freed when none works with it.
std::vector<EmulatedDevice*>& devices() {
  static std::vector<EmulatedDevice*> all;
  return all;
}

void refuse_nothing(std::int64_t bytes) {
  if (bytes < 1) throw std::logic_error("0 bytes of device memory requested");
}

void release(void* memory) {
  for (auto* device : devices()) device->synchronise();
  release_guarded(memory);
}

}  // namespace

EmulatedDevice::EmulatedDevice(Lag lag, unsigned seed) : lag_(lag), random_(seed) {
  devices().push_back(this);
}

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
  if (lag_ == Lag::none) {
    workers_.push_back(std::make_unique<Thread>());
  } else {
    workers_.push_back(std::make_unique<Queue>(*this));
  }
  return {static_cast<int>(workers_.size()) - 1};
}

Event EmulatedDevice::new_event() {
  moments_.emplace_back();
  return {static_cast<int>(moments_.size()) - 1};
}

void EmulatedDevice::give(Stream stream, std::function<void()> work, const char* name) {
  worker(stream).give({std::move(work), name});
  go_on();
}

void EmulatedDevice::launch(Stream stream, const Traffic& /*traffic*/, std::function<void()> work) {
  give(stream, std::move(work), traced_call());
}

void EmulatedDevice::copy_in(Stream stream, const void* host, void* to, std::int64_t bytes) {
  give(
      stream, [host, bytes, into = reach(to)] { std::memcpy(into, host, as_size(bytes)); },
      traced_call());
}

void EmulatedDevice::copy_out(Stream stream, const void* from, void* host, std::int64_t bytes) {
  give(
      stream,
      [host, bytes, out_of = open_address(from)] { std::memcpy(host, out_of, as_size(bytes)); },
      traced_call());
}

void EmulatedDevice::upload(Stream stream, const void* host, void* to, std::int64_t bytes) {
  if (bytes == 0) return;
  const auto* begin = static_cast<const std::byte*>(host);
  give(stream, [values = std::vector<std::byte>(begin, begin + bytes), into = reach(to)] {
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
  worker(stream).give({{}, nullptr, then});
  go_on();
}

bool EmulatedDevice::work_at_random() {
  if (lag_ != Lag::random) return false;
  std::vector<Queue*> able;
  for (const auto& worker : workers_) {
    auto* queue = static_cast<Queue*>(worker.get());
    if (queue->can_work()) able.push_back(queue);
  }
  if (able.empty()) return false;
  able[random_() % able.size()]->work();
  return true;
}

void EmulatedDevice::go_on() {
  if (lag_ == Lag::eager) {
    for (const auto& worker : workers_) worker->wait_for(worker->works());
  }
  while (lag_ == Lag::random && random_() % 2 == 0 && work_at_random()) continue;
}

void EmulatedDevice::synchronise(Event event) {
  const auto then = moment(event);
  if (then.worker != nullptr) wait_for(*then.worker, then.works);
}

void EmulatedDevice::synchronise(Stream stream) {
  auto& worker = this->worker(stream);
  wait_for(worker, worker.works());
}

void EmulatedDevice::synchronise() {
  for (const auto& worker : workers_) wait_for(*worker, worker->works());
}

void EmulatedDevice::wait_for(Worker& worker, std::int64_t works) {
  worker.wait_for(works);
  worker.set_waited_for(works);
}

bool EmulatedDevice::is_waited_for() const {
  return std::ranges::all_of(workers_, [](const auto& worker) { return worker->is_waited_for(); });
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

// SPDX-License-Identifier: BSD-3-Clause
// The emulated device: streams do their work in order, and none before it is waited for where they
// lag; whoever touches its memory from outside is reported with the place.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/as_size.hpp"
#include "device/divisor.hpp"
#include "device/emulated/emulated.hpp"
#include "device/emulated/guarded_memory.hpp"
#include "device/message_buffer.hpp"
#include "device/sharing.hpp"
#include "expect.hpp"

using namespace halobench;
using Lag = EmulatedDevice::Lag;

namespace {

constexpr std::int64_t count = 1000;
constexpr std::int64_t bytes = count * std::int64_t{sizeof(double)};

double* values_of(const Buffer<std::byte>& memory) {
  return static_cast<double*>(static_cast<void*>(memory.data()));
}

/// Adds `more` to every value.
void launch_add(Device& device, Stream stream, const Buffer<std::byte>& memory, double more) {
  auto* values = static_cast<double*>(device.reach(static_cast<void*>(memory.data())));
  launch_over(device, stream, count, {}, [values, more](std::int64_t i) { values[i] += more; });
}

std::vector<double> downloaded(Device& device, Stream stream, const Buffer<std::byte>& memory) {
  std::vector<double> values(as_size(count), -1.0);
  device.download(stream, memory.data(), values.data(), bytes);
  return values;
}

void a_stream_keeps_its_order(Lag lag) {
  EmulatedDevice device(lag);
  const auto stream = device.new_stream();
  const auto memory = device.allocate(bytes);
  {
    const std::vector<double> start(as_size(count), 1.0);
    device.upload(stream, start.data(), memory.data(), bytes);
  }  // what is uploaded was read
  for (int i = 0; i < 100; ++i) launch_add(device, stream, memory, i);
  const auto found = downloaded(device, stream, memory);
  expect::equal(found.front(), 1.0 + 99 * 50);
  expect::equal(found.back(), found.front());
}

void copies_go_through_memory_of_the_host(Lag lag) {
  EmulatedDevice device(lag);
  const auto stream = device.new_stream();
  const auto memory = device.allocate(bytes);
  const auto stage = device.allocate_on_host(bytes);
  auto* host = values_of(stage);
  for (std::int64_t i = 0; i < count; ++i) host[i] = static_cast<double>(i);
  device.copy_in(stream, host, memory.data(), bytes);
  launch_add(device, stream, memory, 0.5);
  device.copy_out(stream, memory.data(), host, bytes);
  if (lag == Lag::until_waited) expect::equal(host[7], 7.0);
  device.synchronise(stream);
  expect::equal(host[7], 7.5);
}

/// Work of two streams, the second's after the first's.
void an_event_orders_two_streams(Lag lag) {
  EmulatedDevice device(lag);
  const std::array streams{device.new_stream(), device.new_stream()};
  const auto memory = device.allocate(bytes);
  const std::vector<double> start(as_size(count), 1.0);
  const auto uploaded = device.new_event();
  const auto never = device.new_event();
  device.upload(streams[0], start.data(), memory.data(), bytes);
  device.record(uploaded, streams[0]);
  device.wait(streams[1], never);
  device.wait(streams[1], uploaded);
  launch_add(device, streams[1], memory, 2.0);
  device.record(uploaded, streams[1]);  // another moment: the wait above is for the first
  device.synchronise(uploaded);
  device.synchronise(never);
  expect::equal(downloaded(device, streams[0], memory)[3], 3.0);
}

/// What is waited for is done; what is not, lags.
void lagging_streams_wait_to_be_waited_for() {
  EmulatedDevice device(Lag::until_waited);
  const std::array streams{device.new_stream(), device.new_stream()};
  std::array done{0, 0};
  for (const auto& stream : streams) {
    for (int i = 0; i < 3; ++i) {
      device.launch(stream, {}, [&done, stream] { ++done[as_size(stream.number)]; });
    }
  }
  usleep(1000);
  expect::equal(done[0] + done[1], 0);
  const auto event = device.new_event();
  device.record(event, streams[0]);
  device.launch(streams[0], {}, [&done] { ++done[0]; });
  device.synchronise(event);
  expect::equal(done[0], 3);
  device.synchronise(streams[1]);
  expect::equal(done[1], 3);
  expect::equal(done[0], 3);
  device.synchronise();
  expect::equal(done[0], 4);
}

/// What is given is done when the call returns, that of all streams.
void an_eager_device_waits_for_nobody() {
  EmulatedDevice device(Lag::eager);
  const std::array streams{device.new_stream(), device.new_stream()};
  int done = 0;
  device.launch(streams[0], {}, [&done] { ++done; });
  expect::equal(done, 1);
  const auto event = device.new_event();
  device.record(event, streams[0]);
  device.wait(streams[1], event);
  device.launch(streams[1], {}, [&done] { ++done; });
  expect::equal(done, 2);
}

/// Also where all of it is done: who stops a clock without a wait has a time by chance.
void the_host_has_waited_for_what_it_waited_for(Lag lag) {
  EmulatedDevice device(lag);
  const std::array streams{device.new_stream(), device.new_stream()};
  const auto give = [&](std::size_t i) { device.launch(streams[i], {}, [] {}); };
  expect::is_true(device.is_waited_for(), "nothing was given");
  give(0);
  expect::is_true(!device.is_waited_for(), "a launch");
  device.synchronise(streams[1]);
  expect::is_true(!device.is_waited_for(), "another stream's wait");
  device.synchronise(streams[0]);
  expect::is_true(device.is_waited_for(), "its own");
  const auto event = device.new_event();
  give(0);
  device.record(event, streams[0]);
  device.wait(streams[1], event);
  expect::is_true(!device.is_waited_for(), "a stream's wait for a stream");
  device.synchronise(streams[1]);
  expect::is_true(device.is_waited_for(), "for the stream that waits");
  give(0);
  device.record(event, streams[0]);
  give(0);
  device.synchronise(event);
  expect::is_true(!device.is_waited_for(), "work behind an event");
  device.synchronise();
  expect::is_true(device.is_waited_for(), "all streams");
  device.wait(streams[0], event);
  expect::is_true(device.is_waited_for(), "a wait does not count as work");
  const auto memory = device.allocate(bytes);
  const std::vector<double> values(as_size(count), 1.0);
  device.upload(streams[0], values.data(), memory.data(), bytes);
  expect::is_true(!device.is_waited_for(), "an upload");
}

/// What 40 works of two streams do when they have been given: in which order, and how many.
std::vector<int> done_at_random(unsigned seed) {
  EmulatedDevice device(Lag::random, seed);
  const std::array streams{device.new_stream(), device.new_stream()};
  std::vector<int> done;
  for (int i = 0; i < 40; ++i) {
    device.launch(streams[as_size(i % 2)], {}, [&done, i] { done.push_back(i); });
  }
  return done;
}

void a_seed_gives_an_order() {
  const auto first = done_at_random(1);
  expect::is_true(first == done_at_random(1), "a seed gives two orders");
  expect::is_true(first != done_at_random(2), "two seeds give one order");
  expect::is_true(!first.empty() && first.size() < 40, "all or nothing was done");
  for (const int parity : {0, 1}) {
    int last = -1;
    for (const int i : first) {
      if (i % 2 != parity) continue;
      expect::is_true(i > last, "a stream does not keep its order");
      last = i;
    }
  }
}

/// What nobody waited for is left, also where one stream waits for another.
void a_device_may_end_with_work_left() {
  EmulatedDevice device(Lag::until_waited);
  const std::array streams{device.new_stream(), device.new_stream()};
  bool done = false;
  const auto event = device.new_event();
  device.launch(streams[1], {}, [&done] { done = true; });
  device.record(event, streams[1]);
  device.wait(streams[0], event);
  expect::is_true(!done, "nobody has waited");
}

void memory_is_the_devices_alone() {
  EmulatedDevice device(Lag::none);
  const auto stream = device.new_stream();
  const auto memory = device.allocate(bytes);
  expect::is_true(std::isnan(downloaded(device, stream, memory)[5]), "new memory has numbers");
  expect::equal(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0U);
  const auto* first = memory.data();
  expect::is_true(device.has(first) && device.has(first + bytes - 1), "its memory is not known");
  expect::is_true(!device.has(first + bytes), "what is after its memory is taken for it");
  double own = 0;
  expect::is_true(!device.has(&own), "the host's memory is taken for its own");
  expect::throws<std::logic_error>([&] { device.reach(static_cast<void*>(&own)); },
                                   "an address outside its memory");
  // A GPU's runtime may give an address, none, or an error.
  const std::string why = "0 bytes of device memory requested";
  expect::throws<std::logic_error>([&] { static_cast<void>(device.allocate(0)); }, why);
  expect::throws<std::logic_error>([&] { static_cast<void>(device.allocate_on_host(0)); }, why);
}

/// How a process of its own ends that does this, and what it says.
template <class Body>
std::string said_by_a_child(Body&& body, int& code) {
  std::array<int, 2> pipe_ends{};
  expect::equal(pipe(pipe_ends.data()), 0);
  const auto child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    body();
    _exit(0);
  }
  close(pipe_ends[1]);
  std::string said;
  std::array<char, 4096> part{};
  for (ssize_t read_bytes = 1; read_bytes > 0;) {
    read_bytes = read(pipe_ends[0], part.data(), part.size());
    said.append(part.data(), as_size(std::max<ssize_t>(0, read_bytes)));
  }
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

template <class Body>
void is_told(Body&& body, const std::vector<std::string>& parts) {
  int code = 0;
  const auto said = said_by_a_child(
      [&] {
        name_in_faults("rank 5");
        EmulatedDevice device(Lag::none);
        body(device);
      },
      code);
  expect::equal(code, 3);
  for (const auto& part : parts) expect::contains(said, part);
}

#if defined(__x86_64__)
constexpr const char* store = "a store of a device's memory, ";
constexpr const char* load = "a load of a device's memory, ";
#else
constexpr const char* store = "a load or store of a device's memory, ";
constexpr const char* load = store;
#endif

}  // namespace

/// Not local, so that it has a name in the message.
[[gnu::noinline]] void store_by_the_host(volatile double* value) { *value = 1.0; }

namespace {

void whoever_touches_it_is_told_of() {
  is_told(
      [](Device& device) {
        const auto memory = device.allocate(bytes);
        store_by_the_host(values_of(memory) + 2);
      },
      {"halobench: rank 5: ", store, "byte 16 of an array of 8000 bytes: the host accessed it",
       "store_by_the_host"});
  is_told(
      [](Device& device) {
        const auto memory = device.allocate(bytes);
        const volatile double* values = values_of(memory);
        if (values[3] > 0) _exit(1);
      },
      {load, "byte 24 of an array of 8000 bytes"});
  is_told(
      [](Device& device) {
        const auto stream = device.new_stream();
        const auto memory = device.allocate(bytes);
        auto* values = static_cast<double*>(device.reach(static_cast<void*>(memory.data())));
        launch_over(device, stream, count + 1, {}, [values](std::int64_t i) { values[i] = 0; });
        device.synchronise(stream);
      },
      {store, "0 bytes after the end of an array of 8000 bytes: a device kernel accessed"});
  is_told(
      [](Device& device) {
        auto memory = device.allocate(bytes);
        auto* values = static_cast<double*>(device.reach(static_cast<void*>(memory.data())));
        memory = {};
        store_by_the_host(values);
      },
      {store, "byte 0 of a freed array of 8000 bytes"});
}

/// An address that has nothing to do with the device ends a program as it always did.
void other_faults_are_not_ours() {
  int code = 0;
  const auto said = said_by_a_child(
      [] {
        EmulatedDevice device(Lag::none);
        const auto memory = device.allocate(bytes);
        store_by_the_host(reinterpret_cast<double*>(64));
      },
      code);
  expect::is_true(code != 0 && code != 3, "code " + std::to_string(code));
  expect::is_true(said.find("a device's memory") == std::string::npos, said);
}

/// The next one may then be received over it.
void a_staged_message_is_the_devices_when_it_has_arrived() {
  EmulatedDevice device(Lag::until_waited);
  Memory memory{false};
  const auto host = memory.allocate<unsigned char>(count, Pages::ordinary);
  const auto [sent, buffer] = halobench::buffers_on_device(device, memory, host, host, true);
  auto* place = buffer->incoming(host.data());
  std::memset(place, 1, as_size(count));
  buffer->arrived(host.data(), count);
  expect::is_true(device.is_waited_for(), "a copy of what arrived");
  std::memset(place, 2, as_size(count));
  buffer->download();
  expect::equal(static_cast<int>(host[as_size(7)]), 1);
}

using Seen = std::vector<std::vector<std::string>>;

std::string numbers(const Seen& seen, int of_a_gpu) {
  std::string found;
  for (const auto& [number, problem] : chosen_gpus(seen, of_a_gpu)) {
    found += problem.empty() ? std::to_string(number) : "x";
  }
  return found;
}

/// Ranks see all GPUs of their node, or one each, as a batch system has it.
void ranks_share_the_gpus_that_they_see() {
  const std::vector<std::string> both{"a", "b"};
  expect::equal(numbers({both, both}, 1), std::string("01"));
  expect::equal(numbers({both, both, both}, 1), std::string("01x"));
  expect::equal(numbers({both, both, both, both}, 2), std::string("0011"));
  expect::equal(numbers({{"a"}, {"b"}, {"c"}}, 1), std::string("000"));
  expect::equal(numbers({{"a"}, {"a"}}, 2), std::string("00"));
  expect::equal(numbers({{"a"}, {"a"}}, 1), std::string("0x"));
  expect::equal(numbers({both, {"a"}}, 1), std::string("xx"));  // both of them have a
  expect::equal(numbers({{}, {"a"}}, 1), std::string("x0"));
  const Seen all{both, both, both, both, both};
  expect::contains(chosen_gpus(all, 1)[4].problem, "5 ranks on a node share 2 GPUs");
  expect::contains(chosen_gpus(all, 1)[4].problem, "gpus_shared=3");
}

/// Also at the largest number below 2^31, and where numbers are larger.
void a_divisor_gives_the_quotients_of_the_machine() {
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  for (const std::int64_t largest : {limit - 1, limit, 5 * limit}) {
    for (const std::int64_t divisor :
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{7}, std::int64_t{400},
          std::int64_t{641}, std::int64_t{65537}, limit / 2, limit / 2 + 1, limit - 1}) {
      const Divisor by(divisor, largest);
      bool good = true;
      for (const std::int64_t near : {std::int64_t{0}, largest / 3, largest}) {
        for (std::int64_t multiple = near / divisor * divisor; multiple <= near + 2 * divisor;
             multiple += divisor) {
          for (const auto number : {multiple - 1, multiple, multiple + 1}) {
            if (number < 0 || number > largest) continue;
            good &= by.quotient(number) == number / divisor;
          }
        }
      }
      expect::is_true(good, std::to_string(divisor) + " up to " + std::to_string(largest));
    }
  }
}

}  // namespace

int main() {
  whoever_touches_it_is_told_of();  // first: a process is copied before it has threads
  other_faults_are_not_ours();
  for (const auto lag : {Lag::none, Lag::until_waited, Lag::eager, Lag::random}) {
    a_stream_keeps_its_order(lag);
    copies_go_through_memory_of_the_host(lag);
    an_event_orders_two_streams(lag);
    the_host_has_waited_for_what_it_waited_for(lag);
  }
  lagging_streams_wait_to_be_waited_for();
  an_eager_device_waits_for_nobody();
  a_seed_gives_an_order();
  a_device_may_end_with_work_left();
  memory_is_the_devices_alone();
  ranks_share_the_gpus_that_they_see();
  a_staged_message_is_the_devices_when_it_has_arrived();
  a_divisor_gives_the_quotients_of_the_machine();
  return expect::exit_code();
}

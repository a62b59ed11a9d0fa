// SPDX-License-Identifier: BSD-3-Clause
// The clock of a simulated device, on cases whose times follow by hand.
#include <string>

#include "device/clock.hpp"
#include "expect.hpp"

using namespace halobench;
using Way = DeviceClock::Way;

namespace {

constexpr DeviceClock::Rates rates{100, 10};

/// So many seconds of a memory of 100 bytes per second, given at a time.
DeviceClock::Work work(double given_s, double seconds, double latency_s = 0) {
  return {given_s, latency_s, 100 * seconds, Way::memory};
}

double all_done_s(DeviceClock& clock, std::size_t stream) {
  return clock.passes_s(clock.moment(stream));
}

void works_of_a_stream_follow_each_other() {
  DeviceClock clock(rates);
  const auto stream = clock.new_stream();
  expect::near(all_done_s(clock, stream), 0);
  clock.give(stream, work(1, 4, 0.5));
  const auto first = clock.moment(stream);
  clock.give(stream, work(2, 1, 0.5));   // waits for the first
  clock.give(stream, work(10, 1, 0.5));  // nobody is before it
  expect::near(clock.passes_s(first), 5.5);
  expect::near(all_done_s(clock, stream), 11.5);
  expect::near(clock.passes_s(first), 11.5);  // some time since
}

/// Zhang, Mills and Smith 2020, figure 15: kernels of 40, 5, 5, 5 and 5, each 10 to launch.
void launches_are_hidden_behind_works_that_nobody_waits_for() {
  const auto run = [](bool waits) {
    DeviceClock clock(rates);
    const auto stream = clock.new_stream();
    double host_s = 0;
    for (int kernel = 0; kernel < 5; ++kernel) {
      host_s += 10;
      clock.give(stream, work(host_s, kernel == 0 ? 40 : 5));
      if (waits && kernel == 0) host_s = all_done_s(clock, stream);
    }
    return all_done_s(clock, stream);
  };
  expect::near(run(false), 70);
  expect::near(run(true), 95);
}

/// Alone from 0 to 1 and from 3 on, half as fast in between.
void works_of_several_streams_share_the_memory() {
  DeviceClock clock(rates);
  const auto one = clock.new_stream();
  const auto other = clock.new_stream();
  clock.give(one, work(0, 4));
  clock.give(other, work(1, 1));
  expect::near(all_done_s(clock, other), 3);
  expect::near(all_done_s(clock, one), 5);
}

/// Each way has its own 10 bytes per second, and the memory is none of them.
void copies_share_the_way_that_they_take() {
  DeviceClock clock(rates);
  const auto in = clock.new_stream();
  const auto out = clock.new_stream();
  const auto too = clock.new_stream();
  clock.give(in, {0, 0, 40, Way::in});
  clock.give(out, {0, 0, 20, Way::out});
  clock.give(too, {0, 0, 20, Way::out});
  expect::near(all_done_s(clock, out), 4);
  expect::near(all_done_s(clock, too), 4);
  expect::near(all_done_s(clock, in), 4);
}

void a_stream_waits_for_a_moment_of_another() {
  DeviceClock clock(rates);
  const auto one = clock.new_stream();
  const auto other = clock.new_stream();
  clock.wait(other, {});
  clock.give(one, work(0, 2));
  clock.wait(other, clock.moment(one));
  clock.give(one, work(0, 1));
  clock.give(other, work(0.5, 3));
  // From 2 on together: the first's second work moves at half speed until 4, then one is alone.
  expect::near(all_done_s(clock, one), 4);
  expect::near(all_done_s(clock, other), 6);
}

/// What was requested was known then; the rest goes on from there.
void a_moment_passes_while_others_go_on() {
  DeviceClock clock(rates);
  const auto one = clock.new_stream();
  const auto other = clock.new_stream();
  clock.give(one, work(0, 10));
  clock.give(other, work(0, 1));
  expect::near(all_done_s(clock, other), 2);
  clock.give(other, work(5, 1));
  expect::near(all_done_s(clock, other), 7);
  expect::near(all_done_s(clock, one), 12);
}

/// Those with a name, from when they have their stream to themselves.
void works_are_told_of_with_their_times() {
  DeviceClock clock(rates);
  const auto one = clock.new_stream();
  const auto other = clock.new_stream();
  clock.give(one, {1, 0.5, 400, Way::memory, "first"});
  clock.give(one, {2, 0.5, 100, Way::memory, "second"});
  clock.give(one, work(2, 1));
  clock.wait(other, clock.moment(one));
  clock.give(other, {2, 0, 0, Way::memory, "third"});
  all_done_s(clock, other);
  const auto done = clock.take_done();
  expect::equal(done.size(), 3U);
  const auto is = [&](std::size_t i, const char* name, std::size_t stream, double begin_s,
                      double end_s) {
    expect::equal(std::string(done[i].name), name);
    expect::equal(done[i].stream, stream);
    expect::near(done[i].begin_s, begin_s);
    expect::near(done[i].end_s, end_s);
  };
  is(0, "first", one, 1, 5.5);
  is(1, "second", one, 5.5, 7);
  is(2, "third", other, 8, 8);
  expect::equal(clock.take_done().size(), 0U);
}

}  // namespace

int main() {
  works_of_a_stream_follow_each_other();
  launches_are_hidden_behind_works_that_nobody_waits_for();
  works_of_several_streams_share_the_memory();
  copies_share_the_way_that_they_take();
  a_stream_waits_for_a_moment_of_another();
  a_moment_passes_while_others_go_on();
  works_are_told_of_with_their_times();
  return expect::exit_code();
}

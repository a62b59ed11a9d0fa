// SPDX-License-Identifier: BSD-3-Clause
// Places for messages: each used once a lap, none overlapping.
#include <set>
#include <vector>

#include "base/as_size.hpp"
#include "expect.hpp"
#include "kernels/pingpong/setting.hpp"
#include "mpi/slots.hpp"

using halobench::as_size;
using halobench::Slots;

namespace {

void slots_do_not_overlap_and_are_aligned() {
  for (const std::int64_t size : {0, 1, 64, 100}) {
    const auto stride = Slots::stride(size);
    expect::is_true(stride > size, "room for " + std::to_string(size) + " bytes");
    expect::equal(stride % 64, 0);
  }
}

void every_slot_is_used_once_a_lap() {
  for (const std::int64_t count : {1, 2, 3, 7, 64, 1000, 1024}) {
    std::vector<unsigned char> memory(as_size(count * Slots::stride(8)));
    Slots slots(memory.data(), 8, count);
    for (int lap = 0; lap < 2; ++lap) {
      std::set<const unsigned char*> places;
      for (std::int64_t i = 0; i < count; ++i) places.insert(slots.next());
      expect::equal(std::ssize(places), count);
      expect::is_true(*places.begin() == memory.data(), "the first slot is one of them");
      expect::is_true(*places.rbegin() == slots[count - 1].data(), "the last one too");
    }
  }
}

void neighbours_are_far_apart_in_time() {
  std::vector<unsigned char> memory(as_size(1000 * Slots::stride(8)));
  Slots slots(memory.data(), 8, 1000);
  const auto* before = slots.next();
  for (int i = 0; i < 1000; ++i) {
    const auto* now = slots.next();
    expect::is_true(std::abs(now - before) > 100 * Slots::stride(8), "a leap, not a step");
    before = now;
  }
}

void the_order_of_use_is_known() {
  std::vector<unsigned char> memory(as_size(5 * Slots::stride(8)));
  Slots slots(memory.data(), 8, 5);
  slots.next();
  for (int round = 0; round < 2; ++round) {
    slots.restart();
    std::vector<const unsigned char*> used;
    for (int i = 0; i < 3; ++i) used.push_back(slots.next());
    std::vector<const unsigned char*> reported;
    slots.for_first(slots.used(),
                    [&](std::int64_t slot) { reported.push_back(slots[slot].data()); });
    expect::is_true(reported == used, "those three, in order");
    reported.clear();
    slots.for_first(100, [&](std::int64_t slot) { reported.push_back(slots[slot].data()); });
    expect::equal(reported.size(), 5U);
    reported.resize(3);
    expect::is_true(reported == used, "all five begin with them");
  }
}

void more_uses_than_slots_are_each_slot_once() {
  std::vector<unsigned char> memory(as_size(3 * Slots::stride(8)));
  Slots slots(memory.data(), 8, 3);
  for (int i = 0; i < 10; ++i) slots.next();
  int reported = 0;
  slots.for_first(slots.used(), [&](std::int64_t) { ++reported; });
  expect::equal(slots.used(), 10);
  expect::equal(reported, 3);
}

/// The first to be used, and all others: together each slot once, in the order of use.
void the_others_are_those_not_used_first() {
  for (const std::int64_t count : {1, 2, 3, 7, 64, 1000, 1024}) {
    std::vector<unsigned char> memory(as_size(count * Slots::stride(8)));
    const Slots slots(memory.data(), 8, count);
    for (const std::int64_t used :
         {std::int64_t{0}, std::int64_t{1}, count / 2, count, 2 * count}) {
      std::vector<std::int64_t> all;
      std::vector<std::int64_t> parts;
      slots.for_first(count, [&](std::int64_t slot) { all.push_back(slot); });
      slots.for_first(used, [&](std::int64_t slot) { parts.push_back(slot); });
      slots.for_others(used, [&](std::int64_t slot) { parts.push_back(slot); });
      expect::is_true(parts == all, std::to_string(used) + " of " + std::to_string(count));
    }
  }
}

/// A message that is staged is written to where it is sent from, while others of the same window
/// may still be under way.
void staged_messages_in_flight_have_a_place_each() {
  const auto sent_slots = [](const std::string& mpi, const std::string& memory) {
    std::vector<halobench::Problem> problems;
    const std::vector<std::string> given{"mode=stream", "window=16", "mpi=" + mpi,
                                         "memory=" + memory};
    const auto setting = halobench::parse_pingpong(
        halobench::Params(halobench::pingpong_parameters(), given, problems), 2, problems);
    expect::equal(problems.size(), std::size_t{0});
    return setting.sent_slots(8);
  };
  expect::equal(sent_slots("staged", "device"), 16);
  expect::equal(sent_slots("gpu_aware", "device"), 1);
  expect::equal(sent_slots("staged", "host"), 1);
}

}  // namespace

int main() {
  slots_do_not_overlap_and_are_aligned();
  every_slot_is_used_once_a_lap();
  neighbours_are_far_apart_in_time();
  the_order_of_use_is_known();
  more_uses_than_slots_are_each_slot_once();
  the_others_are_those_not_used_first();
  staged_messages_in_flight_have_a_place_each();
  return expect::exit_code();
}

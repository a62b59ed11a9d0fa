// SPDX-License-Identifier: BSD-3-Clause
// Ranks that compute share the memory of their simulated node with messages: what both take.
//
// 16 ranks on the node of the laboratory's tests/golden/crowded_platform: its memory gives 96 GB/s
// to 16 cores, of which a byte of a message takes 6; a message by itself has 5 GB/s.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/simulation.hpp"
#include "expect.hpp"
#include "machine/meter.hpp"
#include "mpi/communicator.hpp"

using halobench::check;
using halobench::Communicator;
using halobench::compute_for;
using halobench::Environment;
using halobench::Meter;
using halobench::NodeModel;

namespace {

constexpr int half = 8;
constexpr int large = 100'000'000;
constexpr double memory_bytes_per_s = 96e9;
constexpr double messages_bytes_per_s = memory_bytes_per_s / 6;

/// Of one of 16 ranks that all compute on the memory.
constexpr double core_bytes_per_s = memory_bytes_per_s / 16;

/// Nobody looks at what is sent: memory that costs nothing.
char* nothing() {
  static auto* const memory =
      static_cast<char*>(halobench::allocate_unused(2 * std::size_t{large}));
  return memory;
}

/// Sends to the next of so many ranks, receives from the one before; the requests under way.
std::array<MPI_Request, 2> begin_ring(const Communicator& comm, int ranks, int bytes) {
  const int rank = comm.rank();
  std::array<MPI_Request, 2> both{};
  check(
      MPI_Irecv(nothing(), bytes, MPI_CHAR, (rank + ranks - 1) % ranks, 0, comm.handle(), &both[0]),
      "MPI_Irecv");
  check(
      MPI_Isend(nothing() + large, bytes, MPI_CHAR, (rank + 1) % ranks, 0, comm.handle(), &both[1]),
      "MPI_Isend");
  return both;
}

void finish(std::array<MPI_Request, 2> both) {
  check(MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

/// Seconds of what this rank does, where all begin together.
template <class Body>
double seconds_of(const Communicator& comm, Body&& body) {
  const double begin_s = comm.max(MPI_Wtime()) + 1;
  halobench::pass_time(begin_s - MPI_Wtime());
  body();
  return MPI_Wtime() - begin_s;
}

void near(double found, double expected, const std::string& what,
          std::source_location where = std::source_location::current()) {
  expect::is_true(std::abs(found / expected - 1) < 1e-3,
                  what + " takes " + std::to_string(found) + " s, not " + std::to_string(expected),
                  where);
}

void computation_alone_takes_what_it_says(const Communicator& comm) {
  const double found = seconds_of(comm, [] { compute_for(0.25, 0.25 * core_bytes_per_s, 1); });
  expect::is_true(std::abs(found - 0.25) < 1e-7, "a rank alone takes another time");
}

/// Eight messages have the whole memory, or what eight ranks that compute leave of it; these take
/// no longer than the node model says, for which all 16 compute.
void eight_that_compute_slow_eight_that_send(const Communicator& comm) {
  const bool sends = comm.rank() < half;
  const auto send = [&] { finish(begin_ring(comm, half, large)); };
  const double alone = seconds_of(comm, [&] {
    if (sends) send();
  });
  const double both = seconds_of(comm, [&] {
    if (sends) return send();
    compute_for(1, core_bytes_per_s, 1);
  });
  const double each = large / (messages_bytes_per_s / half);
  if (sends) near(alone, each, "sending");
  near(both, sends ? 2 * each : 1, sends ? "sending beside others" : "computing");
}

/// More than SimGrid's counter of a flow's bytes holds is several flows.
void a_terabyte_and_more_takes_its_time(const Communicator& comm) {
  const bool sends = comm.rank() < half;
  constexpr double whole_s = 300;
  const double found = seconds_of(comm, [&] {
    if (sends) return finish(begin_ring(comm, half, large));
    compute_for(whole_s, whole_s * core_bytes_per_s, 1);
  });
  if (!sends) near(found, whole_s, "computing on 1.8 TB");
}

/// 16 messages and 16 ranks that compute: each has half of what it has alone, as long as both last.
void a_message_under_way_slows_its_own_ranks(const Communicator& comm) {
  constexpr double computed_s = 0.02;
  const double found = seconds_of(comm, [&] {
    const auto both = begin_ring(comm, comm.size(), large);
    compute_for(computed_s, computed_s * core_bytes_per_s, 1);
    finish(both);
  });
  near(found, large / (messages_bytes_per_s / 16) + computed_s, "computing and sending");
}

/// Who computes already when a message starts is slowed from then on.
void a_message_that_starts_later_is_noticed(const Communicator& comm) {
  const bool sends = comm.rank() < half;
  constexpr double quiet_s = 0.03, whole_s = 0.05;
  const double found = seconds_of(comm, [&] {
    if (!sends) {
      compute_for(whole_s, whole_s * 2 * core_bytes_per_s, 1);
      return;
    }
    halobench::pass_time(quiet_s);
    finish(begin_ring(comm, half, large));
  });
  // Eight that compute draw all of the memory; eight messages then take half of it.
  const double each = messages_bytes_per_s / 16;
  const double slowed_s = 2 * (whole_s - quiet_s);
  const double left = large - slowed_s * each;
  near(found, quiet_s + slowed_s + (sends ? left / (2 * each) : 0),
       sends ? "sending" : "computing");
}

/// One rank's core copies 10 GB/s, half of each message; 15 messages have 16 of the memory.
void one_rank_copies_its_messages_one_by_one(const Communicator& comm) {
  const int others = comm.size() - 1;
  const double found = seconds_of(comm, [&] {
    if (comm.rank() > 0) {
      check(MPI_Recv(nothing(), large, MPI_CHAR, 0, 0, comm.handle(), MPI_STATUS_IGNORE),
            "MPI_Recv");
      return;
    }
    std::vector<MPI_Request> sent(static_cast<std::size_t>(others));
    for (int to = 1; to <= others; ++to) {
      check(MPI_Isend(nothing() + large, large, MPI_CHAR, to, 0, comm.handle(),
                      &sent[static_cast<std::size_t>(to - 1)]),
            "MPI_Isend");
    }
    check(MPI_Waitall(others, sent.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  });
  const double last_begins_s = (others - 1) * (large / 10e9);
  const double last_ends_s = comm.max(found);
  expect::is_true(last_ends_s > last_begins_s + large / 5e9, "several cores' copies");
  expect::is_true(last_ends_s < others * (large / 5e9), "less than one core's copies");
}

/// The same of blocking sends that wait for no receive, one core's copies as well.
void one_rank_copies_what_it_sends_blocking_one_by_one(const Communicator& comm) {
  constexpr int eager = 500'000;
  const int others = comm.size() - 1;
  const double found = seconds_of(comm, [&] {
    if (comm.rank() > 0) {
      check(MPI_Recv(nothing(), eager, MPI_CHAR, 0, 0, comm.handle(), MPI_STATUS_IGNORE),
            "MPI_Recv");
      return;
    }
    for (int to = 1; to <= others; ++to) {
      check(MPI_Send(nothing() + large, eager, MPI_CHAR, to, 0, comm.handle()), "MPI_Send");
    }
  });
  const double last_begins_s = (others - 1) * (eager / 10e9);
  expect::is_true(comm.max(found) > last_begins_s + eager / 5e9, "several cores' blocking copies");
}

/// Small messages from all others: the receiver copies its half of one after the other.
void one_rank_receives_small_messages_one_by_one(const Communicator& comm) {
  constexpr int small = 60'000;
  const int others = comm.size() - 1;
  const double found = seconds_of(comm, [&] {
    if (comm.rank() > 0) {
      check(MPI_Send(nothing(), small, MPI_CHAR, 0, 0, comm.handle()), "MPI_Send");
      return;
    }
    std::vector<MPI_Request> received;
    for (int from = 1; from <= others; ++from) {
      check(MPI_Irecv(nothing(), small, MPI_CHAR, from, 0, comm.handle(), &received.emplace_back()),
            "MPI_Irecv");
    }
    check(MPI_Waitall(others, received.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  });
  const double half_s = small / 5e9 / 2;
  if (comm.rank() == 0) near(found, half_s + 1e-6 + others * half_s, "receiving small messages");
}

void messages_that_caches_hold_slow_nobody(const Communicator& comm) {
  const double found = seconds_of(comm, [&] {
    const auto both = begin_ring(comm, comm.size(), 1000);
    compute_for(0.1, 0.1 * core_bytes_per_s, 1);
    finish(both);
  });
  near(found, 0.1, "computing beside small messages");
}

/// Data in a cache do not use memory bandwidth.
void a_meter_charges_what_the_memory_moves(const Communicator& comm) {
  const expect::File machine(
      "core_flops_per_s 1e12 1e12\ncores 16 1\nmemory 1 12e9\nmemory 16 96e9\n"
      "cache 1e6 1 1e11 1e11\n");
  Meter meter({NodeModel::read(machine.path()), comm.size(), 1, false});
  auto& in_memory = meter.phase("memory");
  auto& in_cache = meter.phase("cache");
  const auto beside = [&](halobench::Phase& phase, const halobench::Traffic& traffic) {
    double computed_s = 0;
    seconds_of(comm, [&] {
      const auto both = begin_ring(comm, comm.size(), large);
      const double begin_s = MPI_Wtime();
      meter.compute(phase, traffic, [] {});
      meter.settle();
      computed_s = MPI_Wtime() - begin_s;
      finish(both);
    });
    return computed_s;
  };
  near(beside(in_memory, {0.02 * core_bytes_per_s, 0, 1e12}), 0.04, "a sweep over memory");
  near(in_memory.time_s, 0.04, "its phase");
  near(in_memory.model_s, 0.02, "its model");
  meter.trace_begin(9);
  beside(in_memory, {0.02 * core_bytes_per_s, 0, 1e12});
  const auto spans = meter.trace_end();
  expect::equal(spans.size(), 1U);
  near(spans.front().end_s - spans.front().begin_s, 0.04, "its span");
  near(beside(in_cache, {0.02 * 1e11, 0, 1e5}), 0.02, "a sweep in a cache");
}

/// More of them than the system allows a process mappings (vm.max_map_count, by default 65,530).
void unused_arrays_may_be_many_and_are_apart(const Communicator& comm) {
  constexpr std::size_t number = 5000, bytes = 1000;
  std::vector<char*> arrays(number);
  for (auto& each : arrays) each = static_cast<char*>(halobench::allocate_unused(bytes));
  std::ranges::sort(arrays);
  for (std::size_t i = 1; i < number; ++i) {
    expect::is_true(arrays[i] - arrays[i - 1] >= static_cast<std::ptrdiff_t>(bytes), "overlap");
  }
  std::vector<char*> of_all(comm.rank() == 0 ? number * static_cast<std::size_t>(comm.size()) : 0);
  const int mine = static_cast<int>(number * sizeof(char*));
  check(MPI_Gather(arrays.data(), mine, MPI_BYTE, of_all.data(), mine, MPI_BYTE, 0, comm.handle()),
        "MPI_Gather");
  std::ranges::sort(of_all);
  expect::is_true(std::ranges::adjacent_find(of_all) == of_all.end(), "two ranks' are the same");
  for (char* each : arrays) halobench::free_unused(each);
  void* again = halobench::allocate_unused(bytes);
  expect::is_true(again == arrays.back(), "what was freed last is not used again");
  halobench::free_unused(again);
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  computation_alone_takes_what_it_says(comm);
  eight_that_compute_slow_eight_that_send(comm);
  a_terabyte_and_more_takes_its_time(comm);
  a_message_under_way_slows_its_own_ranks(comm);
  a_message_that_starts_later_is_noticed(comm);
  messages_that_caches_hold_slow_nobody(comm);
  one_rank_copies_its_messages_one_by_one(comm);
  one_rank_copies_what_it_sends_blocking_one_by_one(comm);
  one_rank_receives_small_messages_one_by_one(comm);
  a_meter_charges_what_the_memory_moves(comm);
  unused_arrays_may_be_many_and_are_apart(comm);
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
// Sockets of a simulated node that have a memory each: what messages and computation take.
//
// 16 ranks on the node of the laboratory's tests/golden/socket_platform, 8 on each of two sockets.
// Each socket's memory gives 48 GB/s to 8 cores, of which a byte of a message takes 6: 8 GB/s of
// messages. One by itself has 5 GB/s within a socket and 4 GB/s across; from one socket to the
// other 8 GB/s go at most.
#include <mpi.h>

#include <string>
#include <vector>

#include "base/simulation.hpp"
#include "expect.hpp"
#include "machine/placement.hpp"
#include "mpi/communicator.hpp"

using halobench::check;
using halobench::Communicator;
using halobench::compute_for;
using halobench::Environment;

namespace {

constexpr int half = 8;
constexpr int large = 100'000'000;
constexpr double socket_bytes_per_s = 48e9;
constexpr double messages_bytes_per_s = socket_bytes_per_s / 6;
constexpr double core_bytes_per_s = socket_bytes_per_s / half;

/// Nobody looks at what is sent: memory that costs nothing.
char* nothing() {
  static auto* const memory =
      static_cast<char*>(halobench::allocate_unused(2 * std::size_t{large}));
  return memory;
}

/// Of one message; a rank that is in none waits for nobody.
struct Message {
  int from;
  int to;
};

/// This rank's part in messages of so many bytes that all start at once: requests under way.
std::vector<MPI_Request> begin(const Communicator& comm, const std::vector<Message>& messages,
                               int bytes) {
  std::vector<MPI_Request> requests;
  for (const auto [from, to] : messages) {
    if (to == comm.rank()) {
      check(MPI_Irecv(nothing(), bytes, MPI_CHAR, from, 0, comm.handle(), &requests.emplace_back()),
            "MPI_Irecv");
    }
    if (from == comm.rank()) {
      check(MPI_Isend(nothing() + large, bytes, MPI_CHAR, to, 0, comm.handle(),
                      &requests.emplace_back()),
            "MPI_Isend");
    }
  }
  return requests;
}

void finish(std::vector<MPI_Request> requests) {
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
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
  expect::is_true(
      std::abs(found / expected - 1) < 1e-3,
      what + " takes " + std::to_string(1e6 * found) + " us, not " + std::to_string(1e6 * expected),
      where);
}

/// What the slowest rank takes for them.
double messages_s(const Communicator& comm, const std::vector<Message>& messages, int bytes) {
  return comm.max(seconds_of(comm, [&] { finish(begin(comm, messages, bytes)); }));
}

/// From each rank of a socket to one of the other, or to its neighbour on the same.
std::vector<Message> from_all_of(int socket, int to_socket) {
  std::vector<Message> messages;
  for (int rank = 0; rank < half; ++rank) {
    messages.push_back({socket * half + rank, to_socket * half + (rank + 1) % half});
  }
  return messages;
}

std::vector<Message> both(std::vector<Message> some, const std::vector<Message>& others) {
  some.insert(some.end(), others.begin(), others.end());
  return some;
}

void ranks_know_their_node_and_socket(const Communicator&) {
  const auto here = halobench::seat();
  expect::is_true(here.has_value(), "no seat");
  expect::equal(here->ranks_on_node, 2 * half);
  expect::equal(here->ranks_on_socket, half);
  expect::equal(halobench::host_name(), std::string("node-0"));
}

void a_message_alone_takes_what_its_place_says(const Communicator& comm) {
  near(messages_s(comm, {{0, 1}}, large), 1e-6 + large / 5e9, "one within a socket");
  near(messages_s(comm, {{9, 8}}, large), 1e-6 + large / 5e9, "one within the other socket");
  near(messages_s(comm, {{0, 8}}, large), 1.5e-6 + large / 4e9, "one across");
  near(messages_s(comm, {{0, 1}}, 8), 1e-6 + 24 / 5e9, "a small one within a socket");
  near(messages_s(comm, {{15, 0}}, 8), 1.5e-6 + 24 / 4e9, "a small one across");
}

/// The other socket does not use the bandwidth of this memory.
void each_socket_has_its_own_memory(const Communicator& comm) {
  const double each_s = half * (large / messages_bytes_per_s);
  near(messages_s(comm, from_all_of(0, 0), large), each_s, "a full socket");
  near(messages_s(comm, both(from_all_of(0, 0), from_all_of(1, 1)), large), each_s, "both");
}

/// Half of the copying is in each memory, so that these would give 16 GB/s each way: the link less.
void messages_across_share_the_link_each_way(const Communicator& comm) {
  const double each_s = half * (large / 8e9);
  near(messages_s(comm, from_all_of(0, 1), large), each_s, "one way");
  near(messages_s(comm, from_all_of(1, 0), large), each_s, "the other way");
  near(messages_s(comm, both(from_all_of(0, 1), from_all_of(1, 0)), large), each_s, "both ways");
}

/// Of three messages one core of each copies on either side: 12 GB/s and 2/7 of 36 GB/s more.
void few_messages_across_have_what_their_cores_get(const Communicator& comm) {
  const double given = (12e9 + 36e9 * 2 / 7) / 6;
  const double halves_s = 3 * (large / 2 / given);
  near(messages_s(comm, {{0, 8}, {1, 9}, {2, 10}}, large), halves_s, "three");
  const double two_given = (12e9 + 36e9 / 7) / 6;
  near(messages_s(comm, {{0, 8}, {8, 0}}, large), large / two_given, "there and back");
}

/// 8 within each socket and 8 each way: 8 + 8 of them are 16 halves and 8 wholes of each memory.
void both_kinds_share_the_memories(const Communicator& comm) {
  const auto within = both(from_all_of(0, 0), from_all_of(1, 1));
  const auto across = both(from_all_of(0, 1), from_all_of(1, 0));
  near(messages_s(comm, both(within, across), large), 16 * (large / messages_bytes_per_s), "all");
}

/// Ranks that compute are slowed, from when they start, by messages that their socket's memory has
/// a part in.
void computation_shares_its_own_socket_s_memory(const Communicator& comm) {
  constexpr double computed_s = 0.02, quiet_s = 0.005;
  const bool computes = comm.rank() >= half;
  const auto beside = [&](const std::vector<Message>& messages) {
    double found_s = 0;
    seconds_of(comm, [&] {
      const double begin_s = MPI_Wtime();
      if (!computes) halobench::pass_time(quiet_s);
      auto requests = begin(comm, messages, large);
      if (computes) {
        compute_for(computed_s, computed_s * 2 * core_bytes_per_s, 1);
        found_s = MPI_Wtime() - begin_s;
      }
      finish(std::move(requests));
    });
    return comm.max(found_s);
  };
  near(beside(from_all_of(0, 0)), computed_s, "computing beside the other socket's messages");
  // More than the memory gives, once it is shared.
  const double left = (computed_s - quiet_s) * 2 * core_bytes_per_s * half;
  expect::is_true(beside(from_all_of(0, 1)) > quiet_s + left / socket_bytes_per_s,
                  "messages from the other");
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  ranks_know_their_node_and_socket(comm);
  a_message_alone_takes_what_its_place_says(comm);
  each_socket_has_its_own_memory(comm);
  messages_across_share_the_link_each_way(comm);
  few_messages_across_have_what_their_cores_get(comm);
  both_kinds_share_the_memories(comm);
  computation_shares_its_own_socket_s_memory(comm);
  return expect::exit_code();
}

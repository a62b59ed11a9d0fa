// SPDX-License-Identifier: BSD-3-Clause
// The one place that knows whether this binary runs on a real machine or under SimGrid's SMPI.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halobench {

/// True in a binary built with smpicxx: time is simulated, and must be charged for.
bool simulated();

/// The simulated clock, which MPI_Wtime moves on by asking. Only for simulated binaries.
double simulated_now_s();

/// Advances this rank's simulated clock. Only for simulated binaries.
void pass_time(double seconds);

/// Advances it as computation does that shares the node's memory with messages under way: by so
/// many seconds where there are none, and by more where they slow it; returns how many more.
/// bytes: what it moves of the memory meanwhile; cores: of this rank. Only for simulated binaries.
double compute_for(double seconds, double bytes, int cores);

/// What it shares with others of its node, where each socket has a memory of its own.
struct Seat {
  std::string node;  ///< its host is called as its socket
  int ranks_on_node;
  int ranks_on_socket;
};

/// Of this rank; none where its node has one memory. Only for simulated binaries.
std::optional<Seat> seat();

/// Whether what this rank sends and receives from now on lies in the memory of its device, whose
/// messages take times of their own. Only for simulated binaries.
void messages_on_device(bool are);

/// Addresses that cost nothing: what is there is nobody's concern, and SMPI does not copy what
/// is received there. Only for simulated binaries.
void* allocate_unused(std::size_t bytes);
void free_unused(void* memory);

/// What a rank has kept for all of them under a name, until the simulation ends; null before. Only
/// for simulated binaries, whose ranks are in one process.
const void* kept_for_all_ranks(const char* name);
void keep_for_all_ranks(const char* name, const void* what);

/// What `make`, which does not communicate, gives on every rank alike: under simulation the first
/// one alone makes it. `name`: one for each such thing.
template <class Make>
auto made_once(const char* name, Make&& make) {
  using Made = decltype(make());
  if (!simulated()) return make();
  const auto* made = static_cast<const Made*>(kept_for_all_ranks(name));
  if (made == nullptr) {
    made = new Made(make());
    keep_for_all_ranks(name, made);
  }
  return *made;
}

/// Waits until all ranks of MPI_COMM_WORLD are here, without messages: each of these would take
/// SimGrid time. All go on at the same simulated time. Only for simulated binaries.
void wait_for_all_ranks(int ranks);

/// In place, over all ranks of MPI_COMM_WORLD, without messages. Only for simulated binaries.
void sum_without_messages(int ranks, std::span<double> values);
void max_without_messages(int ranks, std::span<double> values);

/// Every rank's text on rank 0 of MPI_COMM_WORLD, without messages; empty elsewhere. Only for
/// simulated binaries.
std::vector<std::string> gather_without_messages(int rank, int ranks, const std::string& text);

/// A sum over all ranks of MPI_COMM_WORLD that goes on by itself while they compute: by recursive
/// doubling, as MPI_Allreduce does it. One at a time. Only for simulated binaries: SMPI's own
/// MPI_Iallreduce sends from every rank to every other (SimGrid 3.32), so that it takes one latency
/// on any number of ranks, and hours to simulate on many.
class SumInBackground {
 public:
  SumInBackground(int rank, int ranks, std::span<double> values);
  ~SumInBackground();
  SumInBackground(const SumInBackground&) = delete;
  SumInBackground& operator=(const SumInBackground&) = delete;

  void finish();

 private:
  struct Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace halobench

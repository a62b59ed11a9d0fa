// SPDX-License-Identifier: BSD-3-Clause
// Whether this binary runs on a real machine or under SimGrid's SMPI: the only file that differs.
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

/// Whether messages of this rank from now on are in the memory of its device, whose
/// messages take times of their own. Only for simulated binaries.
void messages_on_device(bool are);

/// Addresses that cost nothing: what is there is nobody's concern, and SMPI does not copy what
/// is received there. Only for simulated binaries.
void* allocate_unused(std::size_t bytes);
void free_unused(void* memory);

/// The object that a rank has kept for all ranks under a name, until the simulation ends; null if
/// there is none. Only for simulated binaries, whose ranks are in one process.
void* kept_for_all_ranks(const char* name);
void keep_for_all_ranks(const char* name, void* object);

/// The object that all ranks share under a name, which no other object has; the first rank makes
/// it. Only for simulated binaries.
template <class Make>
auto& shared_by_all_ranks(const char* name, Make&& make) {
  using Made = decltype(make());
  auto* made = static_cast<Made*>(kept_for_all_ranks(name));
  if (made == nullptr) {
    made = new Made(make());  // until the simulation ends
    keep_for_all_ranks(name, made);
  }
  return *made;
}

/// The result of `make`, which does not communicate and returns the same on every rank: under
/// simulation only the first rank calls it. Every use has a name of its own.
template <class Make>
auto made_once(const char* name, Make&& make) {
  return simulated() ? decltype(make())(shared_by_all_ranks(name, make)) : make();
}

/// Waits for all ranks of MPI_COMM_WORLD without messages, which SimGrid would have to simulate.
/// All continue at the same simulated time. Communicator has these functions for the ranks of any
/// communicator. Only for simulated binaries, as are the following.
void wait_for_all_ranks();

/// In place, over all ranks of MPI_COMM_WORLD.
void sum_without_messages(std::span<double> values);
void max_without_messages(std::span<double> values);

/// Every rank's text on rank 0 of MPI_COMM_WORLD; empty elsewhere.
std::vector<std::string> gather_without_messages(int rank, const std::string& text);

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

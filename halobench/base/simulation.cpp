// SPDX-License-Identifier: BSD-3-Clause
#include "base/simulation.hpp"

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#ifdef HALOBENCH_SMPI
#include <simgrid/actor.h>
#include <smpi/smpi.h>

#include <simgrid/s4u.hpp>

#include "base/node_memory.hpp"
#include "simgrid/version.h"  // only after s4u.hpp, whose macros it takes
#endif

namespace halobench {

#ifdef HALOBENCH_SMPI

bool simulated() { return true; }

double simulated_now_s() { return simgrid::s4u::Engine::get_clock(); }

// To sleep, a nanosecond or more, is cheaper to simulate than to compute, for which SimGrid shares
// out cores.
void pass_time(double seconds) { sg_actor_sleep_for(seconds); }

double compute_for(double seconds, double bytes, int cores) {
  auto* memory = simgrid::s4u::this_actor::get_host()->get_data<NodeMemory>();
  if (memory != nullptr && bytes > 0) return memory->compute(seconds, bytes, cores);
  pass_time(seconds);
  return 0;
}

std::optional<Seat> seat() {
  const auto* here = simgrid::s4u::this_actor::get_host();
  const char* node = here->get_property("node");
  if (node == nullptr) return std::nullopt;
  const auto* memory = here->get_data<NodeMemory>();
  return Seat{node, memory->ranks_on_node(), memory->ranks()};
}

void messages_on_device(bool are) {
  auto* memory = simgrid::s4u::this_actor::get_host()->get_data<NodeMemory>();
  if (memory != nullptr) memory->messages_on_gpu(are);
}

namespace {

constexpr const char* of_halobench = "halobench";

/// Memory of all ranks, cut from a few large pieces of SMPI's: each piece is a mapping, of which
/// the system allows a process 65,530, and 4,096 ranks of 16 arrays need more.
class UnusedMemory {
 public:
  /// Addresses of nobody else. They are touched by nobody, so they cost none of this machine's
  /// memory.
  void* acquire(std::size_t bytes) {
    const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
    auto& free = free_[size];
    void* memory = free.empty() ? cut(size) : free.back();
    if (!free.empty()) free.pop_back();
    sizes_.emplace(memory, size);
    return memory;
  }

  void release(void* memory) {
    const auto found = sizes_.find(memory);
    free_[found->second].push_back(memory);
    sizes_.erase(found);
  }

 private:
  static constexpr std::size_t alignment = 64;

  void* cut(std::size_t size) {
    if (size > left_) {
      const std::size_t piece = std::max(size, next_piece_);
      next_ = static_cast<std::byte*>(SMPI_SHARED_MALLOC(piece));
      if (next_ == nullptr) throw std::bad_alloc();
      left_ = piece;
      if (next_piece_ < largest_piece) next_piece_ *= 2;
    }
    void* memory = next_;
    next_ += size;
    left_ -= size;
    return memory;
  }

  static constexpr std::size_t largest_piece = std::size_t{1} << 36;

  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t next_piece_ = std::size_t{1} << 26;
  std::unordered_map<const void*, std::size_t> sizes_;
  std::unordered_map<std::size_t, std::vector<void*>> free_;
};

UnusedMemory& unused_memory() {
  return shared_by_all_ranks("unused memory", [] { return UnusedMemory(); });
}

}  // namespace

void* allocate_unused(std::size_t bytes) { return unused_memory().acquire(bytes); }

void free_unused(void* memory) { unused_memory().release(memory); }

// SMPI's own store: a variable of this program would be each rank's own, where SMPI keeps ranks'
// variables apart.
void* kept_for_all_ranks(const char* name) {
  const bool known = smpi_shared_known_call(of_halobench, name) != 0;
  return known ? smpi_shared_get_call(of_halobench, name) : nullptr;
}

void keep_for_all_ranks(const char* name, void* object) {
  smpi_shared_set_call(of_halobench, name, object);
}

namespace {

using Values = std::vector<double>;

/// Where ranks leave what is not sent.
struct Meeting {
  int ranks;
  simgrid::s4u::BarrierPtr barrier;
  int arrived = 0;
  Values values;
  std::vector<std::string> texts;
};

/// Of all ranks of MPI_COMM_WORLD.
Meeting& meeting() {
  return shared_by_all_ranks("meeting", [] {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return Meeting{ranks, simgrid::s4u::Barrier::create(static_cast<unsigned>(ranks)), 0, {}, {}};
  });
}

template <class Combine>
void reduce_without_messages(std::span<double> values, Combine&& combine) {
  auto& shared = meeting();
  if (shared.arrived++ == 0) {
    shared.values.assign(values.begin(), values.end());
  } else {
    std::ranges::transform(shared.values, values, shared.values.begin(), combine);
  }
  shared.barrier->wait();
  std::ranges::copy(shared.values, values.begin());
  shared.arrived = 0;
  shared.barrier->wait();  // no rank leaves other values before all have read these
}

}  // namespace

void wait_for_all_ranks() { meeting().barrier->wait(); }

void sum_without_messages(std::span<double> values) {
  reduce_without_messages(values, [](double a, double b) { return a + b; });
}

void max_without_messages(std::span<double> values) {
  reduce_without_messages(values, [](double a, double b) { return std::max(a, b); });
}

std::vector<std::string> gather_without_messages(int rank, const std::string& text) {
  auto& shared = meeting();
  shared.texts.resize(static_cast<std::size_t>(shared.ranks));
  shared.texts[static_cast<std::size_t>(rank)] = text;
  shared.barrier->wait();
  std::vector<std::string> texts;
  if (rank == 0) texts = std::exchange(shared.texts, {});
  shared.barrier->wait();
  return texts;
}

namespace {

/// Where a rank finds what was sent to it in a round; it travels at once, as small messages do.
simgrid::s4u::Mailbox* mailbox(int rank, int round) {
  return simgrid::s4u::Mailbox::by_name("sum-" + std::to_string(rank) + "-" +
                                        std::to_string(round));
}

/// SMPI copies `values` for the receiver and then frees what it was given.
void send(int to, int round, const Values& values) {
  const auto bytes = values.size() * sizeof(double);
  void* sent = std::malloc(bytes);
  if (sent == nullptr) throw std::bad_alloc();
  std::memcpy(sent, values.data(), bytes);
  mailbox(to, round)->put_init()->set_payload_size(bytes)->set_src_data(sent, bytes)->detach();
}

Values receive(int rank, int round, std::size_t count) {
  Values values(count);
  void** into = reinterpret_cast<void**>(values.data());
  mailbox(rank, round)->get_init()->set_dst_data(into, count * sizeof(double))->wait();
  return values;
}

void add(int rank, int round, Values& values) {
  const auto other = receive(rank, round, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += other[i];
}

int floor_power(int ranks) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
}

/// After one round for each doubling, and a first one.
int last_round(int ranks) { return std::bit_width(static_cast<unsigned>(ranks)); }

/// Ranks above the largest power of two give their values to one below, and get the sum from it.
void sum_by_doubling(int rank, int ranks, Values& values) {
  const int doubling = floor_power(ranks);
  constexpr int first = 0;
  const int last = last_round(ranks);
  if (rank >= doubling) {
    send(rank - doubling, first, values);
    values = receive(rank, last, values.size());
    return;
  }
  if (rank + doubling < ranks) add(rank, first, values);
  for (int round = 1, step = 1; step < doubling; ++round, step *= 2) {
    send(rank ^ step, round, values);
    add(rank, round, values);
  }
  if (rank + doubling < ranks) send(rank + doubling, last, values);
}

}  // namespace

struct SumInBackground::Worker {
  std::span<double> values;
  Values sum;
  simgrid::s4u::ActorPtr actor;
};

SumInBackground::SumInBackground(int rank, int ranks, std::span<double> values)
    : worker_(std::make_unique<Worker>(values, Values(values.begin(), values.end()))) {
  for (int round = 0; round <= last_round(ranks); ++round) {
    mailbox(rank, round)->set_receiver(simgrid::s4u::Actor::self());
  }
  auto* sum = &worker_->sum;
  const auto work = [=] { sum_by_doubling(rank, ranks, *sum); };
  auto* here = simgrid::s4u::this_actor::get_host();
#if SIMGRID_VERSION >= 40000
  worker_->actor = here->add_actor("sum", work);
#else
  worker_->actor = simgrid::s4u::Actor::create("sum", here, work);
#endif
}

SumInBackground::~SumInBackground() = default;

void SumInBackground::finish() {
  worker_->actor->join();
  std::ranges::copy(worker_->sum, worker_->values.begin());
}

#else

bool simulated() { return false; }

struct SumInBackground::Worker {};

SumInBackground::SumInBackground(int, int, std::span<double>) {
  throw std::logic_error("background sums exist only in simulations");
}

SumInBackground::~SumInBackground() = default;

void SumInBackground::finish() {}

void wait_for_all_ranks() {
  throw std::logic_error("ranks wait without messages only in simulations");
}

void sum_without_messages(std::span<double>) {
  throw std::logic_error("sums need messages outside of simulations");
}

void max_without_messages(std::span<double>) {
  throw std::logic_error("maxima need messages outside of simulations");
}

std::vector<std::string> gather_without_messages(int, const std::string&) {
  throw std::logic_error("texts are gathered without messages only in simulations");
}

void messages_on_device(bool) {}

void* allocate_unused(std::size_t) {
  throw std::logic_error("memory is left untouched only in simulations");
}

void free_unused(void*) {}

void* kept_for_all_ranks(const char*) {
  throw std::logic_error("ranks share memory only in simulations");
}

void keep_for_all_ranks(const char*, void*) {
  throw std::logic_error("ranks share memory only in simulations");
}

double simulated_now_s() { throw std::logic_error("no simulated clock outside simulations"); }

void pass_time(double) { throw std::logic_error("time can be advanced only in simulations"); }

double compute_for(double, double, int) {
  throw std::logic_error("computation is charged only in simulations");
}

std::optional<Seat> seat() {
  throw std::logic_error("ranks of a memory are known only in simulations");
}

#endif

}  // namespace halobench

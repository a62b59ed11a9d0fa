// SPDX-License-Identifier: BSD-3-Clause
// What is counted, line by line, and all that this process knows while MPI runs.
#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
// Open MPI 5 has them, though it says that it is MPI 3.1.
#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define HAS_SESSIONS
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "files.hpp"
#include "places.hpp"

namespace {

enum class Way { to, from, collective, file, uncounted, time, nothing };
constexpr const char* WAYS[] = {"to", "from", "collective", "file", "uncounted", "time"};

struct Peer {  // a process: group 0 are the ranks of this world; others are those of other worlds
  int group = 0, rank = -1;
};

struct Move {
  Way way;
  const char* name;  // what kind of message, or which operation
  Peer peer;
  std::int64_t bytes;
  Passing passing = Passing::none;  // and what matches it to the other side's
  int comm_rank = -1, tag = 0;      // comm_rank: of a collective operation, its root
};
using Moves = std::vector<Move>;

// What a line counts.
struct Key {
  const std::string* named;  // by MPI_Pcontrol
  const void* place;
  const char* name;
  Way way;
  Peer peer;
  int comm, size;

  bool operator==(const Key& other) const {
    return named == other.named && place == other.place && name == other.name && way == other.way &&
           peer.group == other.peer.group && peer.rank == other.peer.rank && comm == other.comm &&
           size == other.size;
  }
};

struct Hash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t part :
         {reinterpret_cast<std::uint64_t>(key.place), reinterpret_cast<std::uint64_t>(key.name),
          reinterpret_cast<std::uint64_t>(key.named),
          static_cast<std::uint64_t>(key.peer.rank) << 32 | static_cast<std::uint32_t>(key.comm),
          static_cast<std::uint64_t>(key.peer.group) << 32 |
              static_cast<std::uint64_t>(key.size) << 8 | static_cast<std::uint64_t>(key.way)}) {
      sum = (sum ^ part) * 0x9e3779b97f4a7c15U;
      sum ^= sum >> 29;
    }
    return sum;
  }
};

// What is known of a communicator. birth: how it was made and, of those made so of these ranks,
// which it is: the same on all of its ranks. number: in this process's lines, once it is in one.
struct Communicator {
  std::vector<Peer> peers;
  std::string birth, name;
  int number = -1;
};

// A request that is open, with the events that end with it; of a persistent one, what it moves.
struct Request {
  std::vector<std::int64_t> events;
  bool is_persistent = false;
  const void* place = nullptr;
  std::size_t line = 0;
  int comm = -1;
  Moves moves;
};

struct State {
  std::recursive_mutex mutex;
  File file;
  std::set<std::string> names;         // all that MPI_Pcontrol named
  const std::string* named = nullptr;  // the current one
  std::unordered_map<Key, std::size_t, Hash> lines;
  std::unordered_map<const void*, int> places;
  std::map<std::pair<std::string, std::vector<int>>, int> births;
  int comms = 0;  // that are in lines
  MPI_Comm last_comm = MPI_COMM_NULL;
  Communicator* last = nullptr;  // what is known of last_comm
  std::unordered_map<std::uintptr_t, Request> requests;
  const int* thread = nullptr;  // the first one that called
  bool has_threads = false;
  int of_comms = MPI_KEYVAL_INVALID, of_windows = MPI_KEYVAL_INVALID;  // keys of their peers
  MPI_Group world = MPI_GROUP_NULL;
  std::vector<MPI_Group> others;  // ranks of other worlds: group 1, 2, ...
  bool in_world = false;          // between MPI_Init and MPI_Finalize
#ifdef HAS_SESSIONS
  std::vector<MPI_Session> sessions;
#endif
};

State& state() {
  static State* one = new State;  // never destroyed: ranks may end in any order
  return *one;
}

using Lock = std::lock_guard<std::recursive_mutex>;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

int number_of(const void* place) {
  State& own = state();
  if (!place) return -1;
  const auto [found, is_new] = own.places.try_emplace(place, static_cast<int>(own.places.size()));
  if (is_new)
    own.file.say("{\"place\":" + std::to_string(found->second) + "," + place_as_json(place) + "}");
  return found->second;
}

std::size_t line_of(const Key& key) {
  State& own = state();
  const auto [found, is_new] = own.lines.try_emplace(key, 0);
  if (is_new) {
    const int place = number_of(key.place);
    std::string line = "[" + json(WAYS[static_cast<int>(key.way)]) + "," +
                       (key.named ? json(*key.named) : "null") + "," + json(key.name);
    for (const int number : {key.peer.group, key.peer.rank, place, key.comm, key.size})
      line += "," + std::to_string(number);
    found->second = own.file.add(line + "]");
  }
  return found->second;
}

// Counts what a call moved. Each power of two has its own lines: [2^(size - 1), 2^size) bytes.
void add(const void* place, int comm, const Moves& moves) {
  State& own = state();
  for (const Move& move : moves) {
    if (move.way == Way::nothing) continue;
    const bool is_counted = move.way != Way::uncounted;
    const int size =
        std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(move.bytes, 0)));
    const Key key{is_counted ? own.named : nullptr,
                  is_counted ? place : nullptr,
                  move.name,
                  move.way,
                  move.peer,
                  comm,
                  size};
    own.file.count(line_of(key), move.bytes);
  }
}

}  // namespace

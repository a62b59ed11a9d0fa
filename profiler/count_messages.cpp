// SPDX-License-Identifier: BSD-3-Clause
// Counts what a process of any MPI program sends, to whom, and from where in the program.
//
// A library that is loaded before the program (LD_PRELOAD). It defines MPI's functions under both
// names, MPI_Send and PMPI_Send, and calls the MPI library's own. Fortran's bindings of Open MPI
// call PMPI_Send, those of MPICH call MPI_Send: both arrive here. The functions that move data are
// written by wrappers.py from the prototypes of the library's mpi.h.
//
// Nothing is sent. Each process writes files of its own into the folder that HALOSCOPE_PROFILE
// names: lines that say what is counted, and the counts, which are mapped into its memory. They
// are therefore complete up to the last call, however the process ends.
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <unistd.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
// Open MPI 5 has them, though it says that it is MPI 3.1.
#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define HAS_SESSIONS
#endif

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "files.hpp"
#include "places.hpp"

namespace {

// --- what is counted ----------------------------------------------------------------------------

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

// --- processes ----------------------------------------------------------------------------------

using Peers = std::vector<Peer>;

int forget(MPI_Comm, int, void* known, void*) {
  state().last_comm = MPI_COMM_NULL;
  delete static_cast<Communicator*>(known);
  return MPI_SUCCESS;
}

int forget_of_window(MPI_Win, int, void* peers, void*) {
  delete static_cast<Peers*>(peers);
  return MPI_SUCCESS;
}

// Who the ranks of a group are. Frees the group.
Peers peers_of(MPI_Group group) {
  State& own = state();
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), there(ranks.size());
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  Peers peers(ranks.size());
  for (std::size_t number = 0; number <= own.others.size(); ++number) {
    const MPI_Group one = number ? own.others[number - 1] : own.world;
    if (one == MPI_GROUP_NULL) continue;
    PMPI_Group_translate_ranks(group, size, ranks.data(), one, there.data());
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (peers[i].rank < 0 && there[i] != MPI_UNDEFINED)
        peers[i] = {static_cast<int>(number), there[i]};
  }
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (peers[i].rank < 0) peers[i] = {-1, static_cast<int>(i)};  // of nobody that is known
  PMPI_Group_free(&group);
  return peers;
}

MPI_Group other_side(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  int two_sided = 0;
  PMPI_Comm_test_inter(comm, &two_sided);
  two_sided ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group);
  return group;
}

// Keeps what is known of a communicator with it. how: the function that made it; empty where it
// was met later, in an order that other ranks may not share.
Communicator* met(MPI_Comm comm, const std::string& how) {
  State& own = state();
  auto* known = new Communicator;
  known->peers = peers_of(other_side(comm));
  int two_sided = 0;
  PMPI_Comm_test_inter(comm, &two_sided);
  if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) {
    known->birth = comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF";
  } else if (!how.empty() && !two_sided) {
    std::vector<int> ranks;
    for (const Peer& one : known->peers) ranks.insert(ranks.end(), {one.group, one.rank});
    known->birth = how + " " + std::to_string(++own.births[{how, ranks}]);
  }
  if (own.of_comms == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &own.of_comms, nullptr);
  PMPI_Comm_set_attr(comm, own.of_comms, known);
  return known;
}

Communicator& known(MPI_Comm comm) {
  State& own = state();
  if (comm == own.last_comm) return *own.last;
  void* found = nullptr;
  int there = 0;
  if (own.of_comms != MPI_KEYVAL_INVALID) PMPI_Comm_get_attr(comm, own.of_comms, &found, &there);
  if (!there) found = met(comm, "");
  own.last_comm = comm;
  own.last = static_cast<Communicator*>(found);
  return *own.last;
}

void created(MPI_Comm comm, const char* how) {
  const Lock lock(state().mutex);
  if (comm != MPI_COMM_NULL && state().file.is_open()) met(comm, how);
}

constexpr int MOST_COMMS = 1000;  // with lines of their own; a program may make them in a loop

// The number of a communicator in lines.
int number_of(MPI_Comm comm) {
  State& own = state();
  Communicator& one = known(comm);
  if (one.number >= 0) return one.number;
  one.number = std::min(own.comms, MOST_COMMS);
  if (own.comms > MOST_COMMS) return one.number;
  ++own.comms;
  std::vector<int> ranks;
  bool is_own = one.number < MOST_COMMS && !one.birth.empty();
  for (const Peer& peer : one.peers) {
    ranks.push_back(peer.rank);
    is_own &= peer.group == 0;
  }
  own.file.say("{\"comm\":" + std::to_string(one.number) + ",\"size\":" +
               std::to_string(one.peers.size()) + ",\"birth\":" + json(is_own ? one.birth : "") +
               ",\"name\":" + json(one.number < MOST_COMMS ? one.name : "further communicators") +
               ",\"ranks\":" + (comm == MPI_COMM_WORLD ? "[]" : json(ranks)) + "}");
  return one.number;
}

Peer peer(MPI_Comm comm, int rank) {  // of its other side, where it has two
  return known(comm).peers.at(static_cast<std::size_t>(rank));
}

Peer peer_of_window(MPI_Win window, int rank) {
  State& own = state();
  if (own.of_windows == MPI_KEYVAL_INVALID)
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget_of_window, &own.of_windows, nullptr);
  void* found = nullptr;
  int there = 0;
  PMPI_Win_get_attr(window, own.of_windows, &found, &there);
  if (!there) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Win_get_group(window, &group);
    found = new Peers(peers_of(group));
    PMPI_Win_set_attr(window, own.of_windows, found);
  }
  return static_cast<Peers*>(found)->at(static_cast<std::size_t>(rank));
}

// --- calls --------------------------------------------------------------------------------------

// A call of a function that may move data or wait: what it moves is counted if the program made it.
class Call {
 public:
  Call(const void* caller, const char* name) : caller_(caller), name_(name) {}

  int ended(int code) {
    end_ = now();
    code_ = code;
    return code;
  }

  // Counts its time and, once it succeeded, what it moves. request: that it ends with.
  template <class Says>
  void count(MPI_Comm comm, Says&& moves, MPI_Request* request = nullptr,
             const MPI_Status* status = nullptr, bool is_prepared = false) {
    const Lock lock(state().mutex);
    State& own = state();
    const Place place = own.file.is_open() ? place_of(caller_) : Place{false, nullptr};
    if (!place.is_call) return;
    is_counted_ = true;
    watch_threads();
    const bool is_good = code_ == MPI_SUCCESS;
    const int number = is_good && comm != MPI_COMM_NULL ? number_of(comm) : -1;
    line_ = line_of({own.named, place.address, name_, Way::time, {}, number, 0});
    if (depth == 1) own.file.count(line_, end_ - begin_);  // what it is called in has its time
    own.file.is_at(end_);
    if (!is_good) return;
    const Moves all = moves();
    if (is_prepared) {
      own.requests[(std::uintptr_t)*request] = {{}, true, place.address, line_, number, all};
      return;
    }
    add(place.address, number, all);
    pass(all, number, request, status);
  }

  // Counts what a persistent request moves, once it is started.
  void start(MPI_Request request) {
    const Lock lock(state().mutex);
    State& own = state();
    const auto found = own.requests.find((std::uintptr_t)request);
    if (found == own.requests.end() || !found->second.is_persistent) return;
    Request& one = found->second;
    line_ = one.line;
    add(one.place, one.comm, one.moves);
    pass(one.moves, one.comm, &request, nullptr);
  }

  // Ends a request: its messages have passed.
  void complete(MPI_Request request, const MPI_Status& status) {
    if (!is_counted_) return;
    const Lock lock(state().mutex);
    State& own = state();
    const auto found = own.requests.find((std::uintptr_t)request);
    if (found == own.requests.end()) return;
    for (const std::int64_t number : found->second.events)
      if (Event* event = own.file.event(number)) end(*event, &status);
    found->second.events.clear();
    if (!found->second.is_persistent) own.requests.erase(found);
  }

 private:
  // Keeps when messages were passed.
  void pass(const Moves& moves, int comm, MPI_Request* request, const MPI_Status* status) {
    State& own = state();
    for (const Move& move : moves) {
      if (move.passing == Passing::none || (request && move.passing == Passing::collective))
        continue;
      Event event{begin_,         0,        0,           static_cast<std::int32_t>(line_), comm,
                  move.comm_rank, move.tag, move.passing};
      if (!request) end(event, status);
      const std::int64_t number = own.file.add(event);
      if (request && number >= 0) own.requests[(std::uintptr_t)*request].events.push_back(number);
    }
  }

  void end(Event& event, const MPI_Status* status) const {
    event.begin = begin_;
    event.end = end_;
    event.line = static_cast<std::int32_t>(line_);
    if (event.passing != Passing::receive || !status) return;
    event.peer = status->MPI_SOURCE;
    event.tag = status->MPI_TAG;
  }

  static void watch_threads() {
    thread_local const int own = 0;
    State& all = state();
    if (!all.thread) all.thread = &own;
    if (all.thread == &own || all.has_threads) return;
    all.has_threads = true;
    all.file.say("{\"threads\":true}");
  }

  const void* caller_;
  const char* name_;
  std::int64_t begin_ = now(), end_ = 0;
  std::size_t line_ = 0;
  int code_ = MPI_SUCCESS;
  bool is_counted_ = false;
};

// The ranks that this one sends to by a collective operation with its neighbours, in their order.
std::vector<int> neighbours(MPI_Comm comm) {
  std::vector<int> found;
  int kind = MPI_UNDEFINED, rank = 0;
  PMPI_Topo_test(comm, &kind);
  PMPI_Comm_rank(comm, &rank);
  if (kind == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    for (int i = 0; i < dimensions; ++i) {
      int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
      PMPI_Cart_shift(comm, i, 1, &below, &above);
      found.insert(found.end(), {below, above});
    }
  } else if (kind == MPI_GRAPH) {
    int size = 0;
    PMPI_Graph_neighbors_count(comm, rank, &size);
    found.resize(static_cast<std::size_t>(size));
    PMPI_Graph_neighbors(comm, rank, size, found.data());
  } else if (kind == MPI_DIST_GRAPH) {
    int in = 0, out = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    found.resize(static_cast<std::size_t>(out));
    std::vector<int> from(static_cast<std::size_t>(in)), weights(from), more(found);
    PMPI_Dist_graph_neighbors(comm, in, from.data(), weighted ? weights.data() : MPI_UNWEIGHTED,
                              out, found.data(), weighted ? more.data() : MPI_UNWEIGHTED);
  }
  return found;
}

int local_size(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

int size_of(MPI_Comm comm) {  // of its other side, where it has two
  int size = 0, two_sided = 0;
  PMPI_Comm_test_inter(comm, &two_sided);
  two_sided ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  return size;
}

// --- what calls move: the words of the table in wrappers.py -------------------------------------

template <class Number>
std::int64_t wide(Number number) {
  return static_cast<std::int64_t>(number);
}

std::int64_t bytes(std::int64_t count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_size_x(type, &size);
  return count * static_cast<std::int64_t>(size);
}

template <class Number>
std::int64_t bytes(const Number counts[], int size, MPI_Datatype type) {
  std::int64_t sum = 0;
  for (int i = 0; i < size; ++i) sum += counts[i];
  return bytes(sum, type);
}

template <class Number>
std::int64_t bytes(const Number counts[], int size, const MPI_Datatype types[]) {
  std::int64_t sum = 0;
  for (int i = 0; i < size; ++i) sum += bytes(wide(counts[i]), types[i]);
  return sum;
}

// What this rank finds of its own in a buffer with all ranks' parts.
template <class Number>
std::int64_t own_part(const Number counts[], MPI_Datatype type, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return bytes(wide(counts[rank]), type);
}

// Whether this rank is the root. Of an intercommunicator, the root alone calls itself MPI_ROOT.
bool is_root(int root, MPI_Comm comm) {
  int rank = 0, two_sided = 0;
  PMPI_Comm_test_inter(comm, &two_sided);
  PMPI_Comm_rank(comm, &rank);
  return root == (two_sided ? MPI_ROOT : rank);
}

// Whether this rank gives something to a root: on an intercommunicator the root's side does not.
bool gives_to(int root) { return root != MPI_ROOT && root != MPI_PROC_NULL; }

constexpr const char *MESSAGE = "message", *NEIGHBOUR = "neighbour", *ONE_SIDED = "one-sided";

Moves message(std::int64_t count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (to == MPI_PROC_NULL) return {};
  return {{Way::to, MESSAGE, peer(comm, to), bytes(count, type), Passing::send, to, tag}};
}

// A message whose parts are sent one by one, which match in their own way.
Moves parts(std::int64_t count, MPI_Datatype type, int to, MPI_Comm comm) {
  if (to == MPI_PROC_NULL) return {};
  return {{Way::to, MESSAGE, peer(comm, to), bytes(count, type)}};
}

// What is received is counted where it is sent; when that is tells who waited.
Moves received(int from, int tag) {
  if (from == MPI_PROC_NULL) return {};
  return {{Way::nothing, "", {}, 0, Passing::receive, from, tag}};
}

Moves both(Moves sent, const Moves& back) {
  sent.insert(sent.end(), back.begin(), back.end());
  return sent;
}

Moves put(std::int64_t count, MPI_Datatype type, int to, MPI_Win window) {
  if (to == MPI_PROC_NULL) return {};
  return {{Way::to, ONE_SIDED, peer_of_window(window, to), bytes(count, type)}};
}

Moves get(std::int64_t count, MPI_Datatype type, int from, MPI_Win window) {
  if (from == MPI_PROC_NULL) return {};
  return {{Way::from, ONE_SIDED, peer_of_window(window, from), bytes(count, type)}};
}

// What is sent, unless nothing is done with it there, and what comes back.
Moves put_and_get(std::int64_t there, std::int64_t back, MPI_Op operation, int rank,
                  MPI_Win window) {
  if (rank == MPI_PROC_NULL) return {};
  const Peer other = peer_of_window(window, rank);
  Moves both{{Way::from, ONE_SIDED, other, back}};
  if (operation != MPI_NO_OP) both.push_back({Way::to, ONE_SIDED, other, there});
  return both;
}

template <class Bytes>  // of a neighbour's number
Moves to_each(MPI_Comm comm, Bytes&& bytes_of) {
  Moves moves;
  std::size_t number = 0;
  for (const int rank : neighbours(comm)) {
    if (rank != MPI_PROC_NULL)
      moves.push_back({Way::to, NEIGHBOUR, peer(comm, rank), bytes_of(number)});
    ++number;
  }
  return moves;
}

Moves to_neighbours(std::int64_t count, MPI_Datatype type, MPI_Comm comm) {
  return to_each(comm, [&](std::size_t) { return bytes(count, type); });
}

template <class Number>
Moves to_neighbours(const Number counts[], MPI_Datatype type, MPI_Comm comm) {
  return to_each(comm, [&](std::size_t i) { return bytes(wide(counts[i]), type); });
}

template <class Number>
Moves to_neighbours(const Number counts[], const MPI_Datatype types[], MPI_Comm comm) {
  return to_each(comm, [&](std::size_t i) { return bytes(wide(counts[i]), types[i]); });
}

constexpr int ALL = -1;  // have no root, and none of them ends before the last one has begun

Moves collective(const char* name, std::int64_t size) {
  return {{Way::collective, name, {}, size}};
}

Moves collective(const char* name, std::int64_t size, int root) {
  return {{Way::collective, name, {}, size, Passing::collective, root}};
}

Moves file(const char* name, std::int64_t count, MPI_Datatype type) {
  return {{Way::file, name, {}, bytes(count, type)}};
}

Moves uncounted(const char* name) { return {{Way::uncounted, name, {}, 0}}; }

// --- the beginning and the end ------------------------------------------------------------------

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// What is known before MPI begins: a rank that is alone gives itself a name space of PMIx.
struct Launch {
  std::string job, spawns;
  int ranks;
};

// The job that a launcher started this process in, the same for all ranks of a world and for no
// others: the name space of PMIx; Hydra's process group, which only the command line of its proxy
// says; a step of Slurm. Empty where none is known.
std::string job() {
  if (const std::string name = variable("PMIX_NAMESPACE"); !name.empty()) return name;
  long process = getppid();
  for (int up = 0; up < 16 && process > 1; ++up) {
    const std::string folder = "/proc/" + std::to_string(process);
    std::ifstream file(folder + "/cmdline");
    std::string found;
    bool of_group = false;
    for (std::string word, value; std::getline(file, word, '\0');)
      if (word == "--control-port" || word == "--upstream-host" || word == "--upstream-port" ||
          word == "--pgid") {
        std::getline(file, value, '\0');
        found += word + " " + value + " ";
        of_group |= word == "--pgid";
      }
    if (of_group) return found;
    std::ifstream state_of(folder + "/stat");
    std::string text{std::istreambuf_iterator<char>(state_of), {}};
    const auto name_ends = text.rfind(')');  // then its state, and its parent
    if (name_ends == std::string::npos) break;
    char letter = 0;
    if (std::sscanf(text.c_str() + name_ends + 1, " %c %ld", &letter, &process) != 2) break;
  }
  const std::string step = variable("SLURM_STEP_ID");
  return step.empty() ? "" : "slurm " + variable("SLURM_JOB_ID") + "." + step;
}

// How many ranks the launcher started; 0 where it does not say.
int launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const std::string size = variable(name); !size.empty()) return std::atoi(size.c_str());
  return 0;
}

constexpr std::string_view SPAWNING = "spawning-";

// The files of spawns that are going on: a process that is spawned begins during its own.
std::string spawns() {
  std::string out;
  std::error_code error;
  const std::string folder = variable("HALOSCOPE_PROFILE");
  if (folder.empty()) return "[]";
  for (const auto& one : std::filesystem::directory_iterator(folder, error))
    if (const std::string name = one.path().filename(); name.starts_with(SPAWNING))
      out += (out.empty() ? "" : ",") + json(name);
  return "[" + out + "]";
}

// Ends a program of another MPI library than the one that this was built for, which is then loaded,
// too: what the program calls has another meaning here.
void check_library() {
  std::set<std::string> loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* one, std::size_t, void* to) {
        std::string name = one->dlpi_name ? one->dlpi_name : "";
        name.erase(0, name.rfind('/') + 1);
        for (const char* known : {"libmpi.so", "libmpich.so", "libmpi_abi.so"})
          if (name.starts_with(known)) static_cast<std::set<std::string>*>(to)->insert(name);
        return 0;
      },
      &loaded);
  if (loaded.size() < 2) return;
  std::string names;
  for (const std::string& name : loaded) names += (names.empty() ? "" : " and ") + name;
  std::fprintf(stderr,
               "haloscope: the program and its counter use two MPI libraries, %s; "
               "name the program's: haloscope profile --toolchain NAME\n",
               names.c_str());
  _exit(2);
}

// Keeps the processes on the other side of a communicator that are of another world. token: what
// that side says of it, too; ranks, root: who is on this side.
void meet(MPI_Comm both, const std::string& key, const std::string& token, MPI_Comm comm,
          int root) {
  const Lock lock(state().mutex);
  State& own = state();
  if (both == MPI_COMM_NULL || !own.file.is_open()) return;
  MPI_Group there = MPI_GROUP_NULL, here = MPI_GROUP_NULL;
  PMPI_Comm_remote_group(both, &there);
  PMPI_Comm_group(comm, &here);
  int size = 0;
  PMPI_Group_size(there, &size);
  std::vector<int> ranks;
  for (const Peer& one : peers_of(here)) ranks.push_back(one.group == 0 ? one.rank : -1);
  own.others.push_back(there);
  own.file.say("{\"group\":" + std::to_string(own.others.size()) +
               ",\"size\":" + std::to_string(size) + "," + json(key) + ":" + token +
               ",\"root\":" + std::to_string(root) + ",\"ranks\":" + json(ranks) + "}");
}

// Takes the group of all ranks from what MPI is used by now: its world, or a session. False if by
// nothing.
bool find_world() {
  State& own = state();
  if (own.world != MPI_GROUP_NULL) PMPI_Group_free(&own.world);
  if (own.in_world) return PMPI_Comm_group(MPI_COMM_WORLD, &own.world) == MPI_SUCCESS;
#ifdef HAS_SESSIONS
  if (!own.sessions.empty()) {
    PMPI_Group_from_session_pset(own.sessions.front(), "mpi://WORLD", &own.world);
    return true;
  }
#endif
  return false;
}

// Events of all ranks together, and of one.
constexpr std::size_t ALL_EVENTS = 1 << 23, LEAST_EVENTS = 1 << 12, MOST_EVENTS = 1 << 18;

// Called when MPI can be used, in one more way.
void begin(const Launch& launch) {
  State& own = state();
  const std::string folder = variable("HALOSCOPE_PROFILE");
  find_world();
  if (own.file.is_open()) return own.file.say("{\"ended\":false}");
  if (folder.empty() || own.world == MPI_GROUP_NULL) return;
  int rank = 0, ranks = 0;
  PMPI_Group_rank(own.world, &rank);
  PMPI_Group_size(own.world, &ranks);
  own.file.open(folder, std::clamp<std::size_t>(ALL_EVENTS / static_cast<std::size_t>(ranks),
                                                LEAST_EVENTS, MOST_EVENTS));
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  std::string clock;  // the same where times can be compared: since a boot of one machine
  std::ifstream("/proc/sys/kernel/random/boot_id") >> clock;
  std::error_code error;
  clock += " " + std::filesystem::read_symlink("/proc/self/ns/time", error).string();
  own.file.say("{\"rank\":" + std::to_string(rank) + ",\"ranks\":" + std::to_string(ranks) +
               ",\"host\":" + json(host) + ",\"job\":" + json(launch.job) +
               ",\"launched\":" + std::to_string(launch.ranks) + ",\"clock\":" + json(clock) +
               ",\"time\":" + std::to_string(time.tv_sec) + "." +
               std::to_string(1'000'000'000 + time.tv_nsec).substr(1) + "}");
  own.file.begins(now());
}

// Called before MPI can no longer be used in one way.
void end() {
  State& own = state();
  if (find_world()) return;
  for (MPI_Group& one : own.others)
    if (one != MPI_GROUP_NULL) PMPI_Group_free(&one);
  own.of_comms = own.of_windows = MPI_KEYVAL_INVALID;  // they end with MPI
  own.last_comm = MPI_COMM_NULL;
  own.file.say("{\"ended\":true}");
  own.file.sync();
}

// The last thing that MPI_Finalize does with attributes of MPI_COMM_SELF, the first of which this
// is.
int leave_world(MPI_Comm, int, void*, void*) {
  const Lock lock(state().mutex);
  state().in_world = false;
  end();
  return MPI_SUCCESS;
}

template <class Starts>
int started(Starts&& starts) {
  check_library();
  const Launch launch{job(), spawns(), launched()};
  const int code = starts();
  const Lock lock(state().mutex);
  if (code != MPI_SUCCESS || state().in_world) return code;
  state().in_world = true;
  begin(launch);
  int last = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave_world, &last, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, last, nullptr);
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  meet(parent, "spawned", launch.spawns, MPI_COMM_WORLD, 0);
  return code;
}

// A file that is there while the root of a spawn waits for its new processes.
std::string mark(bool is_root) {
  std::string path = variable("HALOSCOPE_PROFILE") + "/" + std::string(SPAWNING) + "XXXXXX";
  const int file = is_root ? mkstemp(path.data()) : -1;
  if (file < 0) return "";
  close(file);
  return path;
}

template <class Spawns>
int spawned(const void* caller, const char* name, int root, MPI_Comm comm, MPI_Comm* both,
            Spawns&& spawns) {
  Call call(caller, name);
  const std::string path = mark(is_root(root, comm));
  const int code = call.ended(spawns());
  if (!path.empty()) unlink(path.c_str());
  call.count(comm, [] { return Moves{}; });
  if (code == MPI_SUCCESS)
    meet(*both, "spawns", json(path.substr(path.rfind('/') + 1)), comm, root);
  return code;
}

template <class Connects>
int connected(const void* caller, const char* name, const char* how, const char* port, int root,
              MPI_Comm comm, MPI_Comm* both, Connects&& connects) {
  Call call(caller, name);
  const int code = call.ended(connects());
  call.count(comm, [] { return Moves{}; });
  if (code == MPI_SUCCESS) meet(*both, how, json(is_root(root, comm) ? port : ""), comm, root);
  return code;
}

}  // namespace

#define CALLER __builtin_return_address(0)
#define UNPACK(...) __VA_ARGS__
#define AFTER_THESE(...) __VA_OPT__(, ) __VA_ARGS__

// Defines a function under both of its names. `real` is the library's own. WHAT follows with its
// body, which may use `caller`.
#define STANDS_FOR(NAME, PARAMETERS, ARGUMENTS)                                           \
  static int own_##NAME(const void* caller, decltype(&NAME) real AFTER_THESE PARAMETERS); \
  static decltype(&NAME) real_##NAME() {                                                  \
    static const auto real = next<decltype(&NAME)>("P" #NAME);                            \
    return real;                                                                          \
  }                                                                                       \
  extern "C" int NAME(UNPACK PARAMETERS) {                                                \
    const Inside inside;                                                                  \
    return own_##NAME(CALLER, real_##NAME() AFTER_THESE ARGUMENTS);                       \
  }                                                                                       \
  extern "C" int P##NAME(UNPACK PARAMETERS) {                                             \
    const Inside inside;                                                                  \
    return own_##NAME(CALLER, real_##NAME() AFTER_THESE ARGUMENTS);                       \
  }                                                                                       \
  static int own_##NAME([[maybe_unused]] const void* caller,                              \
                        decltype(&NAME) real AFTER_THESE PARAMETERS)

// One that may move data, or wait. CALLED is its name in tables.
#define COUNTED(NAME, CALLED, PARAMETERS, ARGUMENTS, COMM, MOVES) \
  STANDS_FOR(NAME, PARAMETERS, ARGUMENTS) {                       \
    Call call(caller, CALLED);                                    \
    const int code = call.ended(real(UNPACK ARGUMENTS));          \
    call.count(COMM, [&]() -> Moves { return MOVES; });           \
    return code;                                                  \
  }
// One that moves data until its request ends.
#define BEGUN(NAME, CALLED, PARAMETERS, ARGUMENTS, COMM, MOVES, REQUEST) \
  STANDS_FOR(NAME, PARAMETERS, ARGUMENTS) {                              \
    Call call(caller, CALLED);                                           \
    const int code = call.ended(real(UNPACK ARGUMENTS));                 \
    call.count(COMM, [&]() -> Moves { return MOVES; }, REQUEST);         \
    return code;                                                         \
  }
// One that moves data whenever its request is started.
#define PREPARED(NAME, CALLED, PARAMETERS, ARGUMENTS, COMM, MOVES, REQUEST)     \
  STANDS_FOR(NAME, PARAMETERS, ARGUMENTS) {                                     \
    Call call(caller, CALLED);                                                  \
    const int code = call.ended(real(UNPACK ARGUMENTS));                        \
    call.count(COMM, [&]() -> Moves { return MOVES; }, REQUEST, nullptr, true); \
    return code;                                                                \
  }
// One that receives: its status says from whom.
#define RECEIVED(NAME, CALLED, PARAMETERS, ARGUMENTS, COMM, MOVES, STATUS) \
  STANDS_FOR(NAME, PARAMETERS, ARGUMENTS) {                                \
    Call call(caller, CALLED);                                             \
    MPI_Status own;                                                        \
    if (STATUS == MPI_STATUS_IGNORE) STATUS = &own;                        \
    const int code = call.ended(real(UNPACK ARGUMENTS));                   \
    call.count(COMM, [&]() -> Moves { return MOVES; }, nullptr, STATUS);   \
    return code;                                                           \
  }
// One that makes a communicator.
#define CREATES(NAME, CALLED, PARAMETERS, ARGUMENTS, COMM, CREATED) \
  STANDS_FOR(NAME, PARAMETERS, ARGUMENTS) {                         \
    Call call(caller, CALLED);                                      \
    const int code = call.ended(real(UNPACK ARGUMENTS));            \
    call.count(COMM, [] { return Moves{}; });                       \
    if (code == MPI_SUCCESS) created(*CREATED, CALLED);             \
    return code;                                                    \
  }

#include "wrappers.inc"

STANDS_FOR(MPI_Start, (MPI_Request * request), (request)) {
  Call call(caller, "Start");
  call.start(*request);
  const int code = call.ended(real(request));
  call.count(MPI_COMM_NULL, [] { return Moves{}; });
  return code;
}
STANDS_FOR(MPI_Startall, (int count, MPI_Request requests[]), (count, requests)) {
  Call call(caller, "Startall");
  for (int i = 0; i < count; ++i) call.start(requests[i]);
  const int code = call.ended(real(count, requests));
  call.count(MPI_COMM_NULL, [] { return Moves{}; });
  return code;
}
STANDS_FOR(MPI_Request_free, (MPI_Request * request), (request)) {
  {
    const Lock lock(state().mutex);
    state().requests.erase((std::uintptr_t)*request);
  }
  return real(request);
}

// What waits for one request: REACHED says whether it ended.
#define WAITS(NAME, CALLED, PARAMETERS, ARGUMENTS, REACHED)             \
  STANDS_FOR(NAME, PARAMETERS, ARGUMENTS) {                             \
    MPI_Status own;                                                     \
    if (status == MPI_STATUS_IGNORE) status = &own;                     \
    const MPI_Request before = *request;                                \
    Call call(caller, CALLED);                                          \
    const int code = call.ended(real(UNPACK ARGUMENTS));                \
    call.count(MPI_COMM_NULL, [] { return Moves{}; });                  \
    if (code == MPI_SUCCESS && REACHED) call.complete(before, *status); \
    return code;                                                        \
  }
WAITS(MPI_Wait, "Wait", (MPI_Request * request, MPI_Status* status), (request, status), true)
WAITS(MPI_Test, "Test", (MPI_Request * request, int* flag, MPI_Status* status),
      (request, flag, status), *flag)

// The requests and statuses of a call for several; statuses of its own where the program has none.
struct Several {
  Several(int count, const MPI_Request requests[], MPI_Status statuses[])
      : before(requests, requests + std::max(count, 0)) {
    if (statuses == MPI_STATUSES_IGNORE) own.resize(before.size());
  }
  MPI_Status* fill(MPI_Status statuses[]) {
    return statuses == MPI_STATUSES_IGNORE ? own.data() : statuses;
  }

  std::vector<MPI_Request> before;
  std::vector<MPI_Status> own;
};

STANDS_FOR(MPI_Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
           (count, requests, statuses)) {
  Several all(count, requests, statuses);
  statuses = all.fill(statuses);
  Call call(caller, "Waitall");
  const int code = call.ended(real(count, requests, statuses));
  call.count(MPI_COMM_NULL, [] { return Moves{}; });
  for (std::size_t i = 0; code == MPI_SUCCESS && i < all.before.size(); ++i)
    call.complete(all.before[i], statuses[i]);
  return code;
}
STANDS_FOR(MPI_Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]),
           (count, requests, flag, statuses)) {
  Several all(count, requests, statuses);
  statuses = all.fill(statuses);
  Call call(caller, "Testall");
  const int code = call.ended(real(count, requests, flag, statuses));
  call.count(MPI_COMM_NULL, [] { return Moves{}; });
  for (std::size_t i = 0; code == MPI_SUCCESS && *flag && i < all.before.size(); ++i)
    call.complete(all.before[i], statuses[i]);
  return code;
}
#define WAITS_FOR_ONE(NAME, CALLED, PARAMETERS, ARGUMENTS, REACHED)         \
  STANDS_FOR(NAME, PARAMETERS, ARGUMENTS) {                                 \
    const Several all(count, requests, nullptr);                            \
    MPI_Status own;                                                         \
    if (status == MPI_STATUS_IGNORE) status = &own;                         \
    Call call(caller, CALLED);                                              \
    const int code = call.ended(real(UNPACK ARGUMENTS));                    \
    call.count(MPI_COMM_NULL, [] { return Moves{}; });                      \
    if (code == MPI_SUCCESS && REACHED && *index != MPI_UNDEFINED)          \
      call.complete(all.before[static_cast<std::size_t>(*index)], *status); \
    return code;                                                            \
  }
WAITS_FOR_ONE(MPI_Waitany, "Waitany",
              (int count, MPI_Request requests[], int* index, MPI_Status* status),
              (count, requests, index, status), true)
WAITS_FOR_ONE(MPI_Testany, "Testany",
              (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status),
              (count, requests, index, flag, status), *flag)
#define WAITS_FOR_SOME(NAME, CALLED)                                                               \
  STANDS_FOR(                                                                                      \
      NAME, (int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]), \
      (count, requests, ended, indices, statuses)) {                                               \
    Several all(count, requests, statuses);                                                        \
    statuses = all.fill(statuses);                                                                 \
    Call call(caller, CALLED);                                                                     \
    const int code = call.ended(real(count, requests, ended, indices, statuses));                  \
    call.count(MPI_COMM_NULL, [] { return Moves{}; });                                             \
    for (int i = 0; code == MPI_SUCCESS && *ended != MPI_UNDEFINED && i < *ended; ++i)             \
      call.complete(all.before[static_cast<std::size_t>(indices[i])], statuses[i]);                \
    return code;                                                                                   \
  }
WAITS_FOR_SOME(MPI_Waitsome, "Waitsome")
WAITS_FOR_SOME(MPI_Testsome, "Testsome")

STANDS_FOR(MPI_Comm_set_name, (MPI_Comm comm, const char* name), (comm, name)) {
  const int code = real(comm, name);
  const Lock lock(state().mutex);
  if (code != MPI_SUCCESS || !state().file.is_open()) return code;
  Communicator& one = known(comm);
  one.name = name;
  if (one.number >= 0 && one.number < MOST_COMMS)
    state().file.say("{\"comm\":" + std::to_string(one.number) + ",\"name\":" + json(name) + "}");
  return code;
}

STANDS_FOR(MPI_Init, (int* argc, char*** argv), (argc, argv)) {
  return started([&] { return real(argc, argv); });
}
STANDS_FOR(MPI_Init_thread, (int* argc, char*** argv, int required, int* provided),
           (argc, argv, required, provided)) {
  return started([&] { return real(argc, argv, required, provided); });
}
STANDS_FOR(MPI_Finalize, (), ()) {
  {
    const Lock lock(state().mutex);
    state().file.is_at(now());
  }
  return real();
}
#ifdef HAS_SESSIONS
STANDS_FOR(MPI_Session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session* session),
           (info, handler, session)) {
  check_library();
  const Launch launch{job(), spawns(), launched()};
  const int code = real(info, handler, session);
  if (code != MPI_SUCCESS) return code;
  const Lock lock(state().mutex);
  state().sessions.push_back(*session);
  begin(launch);
  return code;
}
STANDS_FOR(MPI_Session_finalize, (MPI_Session * session), (session)) {
  {
    const Lock lock(state().mutex);
    state().file.is_at(now());
    std::erase(state().sessions, *session);
    end();
  }
  return real(session);
}
#endif

STANDS_FOR(MPI_Comm_spawn,
           (const char* command, char* argv[], int processes, MPI_Info info, int root,
            MPI_Comm comm, MPI_Comm* both, int codes[]),
           (command, argv, processes, info, root, comm, both, codes)) {
  return spawned(caller, "Comm_spawn", root, comm, both,
                 [&] { return real(command, argv, processes, info, root, comm, both, codes); });
}
STANDS_FOR(MPI_Comm_spawn_multiple,
           (int commands, char* command[], char** argv[], const int processes[],
            const MPI_Info info[], int root, MPI_Comm comm, MPI_Comm* both, int codes[]),
           (commands, command, argv, processes, info, root, comm, both, codes)) {
  return spawned(caller, "Comm_spawn_multiple", root, comm, both, [&] {
    return real(commands, command, argv, processes, info, root, comm, both, codes);
  });
}
STANDS_FOR(MPI_Comm_accept,
           (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* both),
           (port, info, root, comm, both)) {
  return connected(caller, "Comm_accept", "accepts", port, root, comm, both,
                   [&] { return real(port, info, root, comm, both); });
}
STANDS_FOR(MPI_Comm_connect,
           (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* both),
           (port, info, root, comm, both)) {
  return connected(caller, "Comm_connect", "connects", port, root, comm, both,
                   [&] { return real(port, info, root, comm, both); });
}

extern "C" int MPI_Pcontrol(const int level, ...) {
  const Lock lock(state().mutex);
  if (level != 1000) return MPI_SUCCESS;  // other tools', whose level has no name beside it
  std::va_list words;
  va_start(words, level);
  const char* name = va_arg(words, const char*);
  va_end(words);
  state().named = name && *name ? &*state().names.insert(name).first : nullptr;
  return MPI_SUCCESS;
}

// Fortran's levels have no name either. Its bindings would hand them on to MPI_Pcontrol.
extern "C" void mpi_pcontrol_(const MPI_Fint*) {}
extern "C" void mpi_pcontrol_f08_(const MPI_Fint*) {}

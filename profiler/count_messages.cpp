// SPDX-License-Identifier: BSD-3-Clause
// Counts what a process of any MPI program sends, to whom, and from where in the program.
//
// A library that is loaded before the program (LD_PRELOAD). It defines MPI's functions under both
// names, MPI_Send and PMPI_Send, and calls the MPI library's own. Fortran's bindings of Open MPI
// call PMPI_Send, those of MPICH call MPI_Send: both arrive here. The functions that move data are
// written by wrappers.py from the prototypes of the library's mpi.h.
//
// Nothing is sent. Each process writes two files of its own into the folder that HALOSCOPE_PROFILE
// names: lines that say what is counted, and the counts, which are mapped into its memory. They
// are therefore complete up to the last call, however the process ends.
#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
// Open MPI 5 has them, though it says that it is MPI 3.1.
#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define HAS_SESSIONS
#endif

#include <algorithm>
#include <cerrno>
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
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace {

// The next function of that name: the MPI library's.
template <class Function>
Function next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (!found) {
    std::fprintf(stderr, "haloscope: the MPI library of this program has no %s\n", name);
    _exit(2);
  }
  Function function;
  static_assert(sizeof function == sizeof found);
  std::memcpy(&function, &found, sizeof function);
  return function;
}

// A text as JSON has it.
std::string json(std::string_view text) {
  std::string out = "\"";
  for (const char sign : text) {
    if (sign == '"' || sign == '\\') out += '\\';
    out += static_cast<unsigned char>(sign) < 0x20 ? ' ' : sign;
  }
  return out + "\"";
}

std::string json(const std::vector<int>& numbers) {
  std::string out = "[";
  for (const int number : numbers) {
    if (out.size() > 1) out += ',';
    out += std::to_string(number);
  }
  return out + "]";
}

// --- where in the program -----------------------------------------------------------------------

enum class Module { program, mpi, binding, counter };

// Whose code lies at an address. A binding is a library of MPI's for another language.
Module module_of(const void* address) {
  static std::unordered_map<const void*, Module> known;  // by where its file begins
  static const void* const mpi = [] {
    Dl_info info{};
    void* function = dlsym(RTLD_NEXT, "PMPI_Init");
    return function && dladdr(function, &info) ? info.dli_fbase : nullptr;
  }();
  Dl_info info{};
  if (!address || dladdr(address, &info) == 0) return Module::program;
  const auto [found, is_new] = known.try_emplace(info.dli_fbase, Module::program);
  if (is_new) {
    Dl_info own{};
    dladdr(reinterpret_cast<const void*>(&module_of), &own);
    std::string_view name = info.dli_fname ? info.dli_fname : "";
    name.remove_prefix(std::min(name.size(), name.rfind('/') + 1));
    if (info.dli_fbase == own.dli_fbase)
      found->second = Module::counter;
    else if (info.dli_fbase == mpi || name.starts_with("mca_"))
      found->second = Module::mpi;
    else if (name.starts_with("libmpi"))
      found->second = Module::binding;
  }
  return found->second;
}

struct Walk {
  bool in_binding = false;
  const void* outside = nullptr;
};

_Unwind_Reason_Code walk(_Unwind_Context* frame, void* to) {
  Walk& own = *static_cast<Walk*>(to);
  const void* address = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
  const Module module = module_of(address);
  if (module == Module::program) {
    own.outside = address;
    return _URC_NORMAL_STOP;
  }
  Dl_info info{};
  if (module == Module::binding)
    own.in_binding = true;
  else if (module == Module::mpi && dladdr(address, &info) && info.dli_sname)
    own.in_binding |= std::string_view(info.dli_sname).starts_with("mpi_") ||
                      std::string_view(info.dli_sname).starts_with("pmpi_");
  return _URC_NO_REASON;
}

// Where the program called MPI, and whether it did: the MPI library calls its own functions, too.
struct Place {
  bool is_call = true;
  const void* address = nullptr;
};

// How many functions of MPI this thread is in: what is called in another one is the library's.
thread_local int depth = 0;

struct Inside {
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

Place place_of(const void* caller) {
  static std::unordered_map<const void*, bool> in_program;
  const auto [found, is_new] = in_program.try_emplace(caller, true);
  if (is_new) found->second = module_of(caller) == Module::program;
  if (found->second) return {true, caller};  // also of a callback that MPI calls
  if (depth > 1) return {false, nullptr};
  Walk own;
  _Unwind_Backtrace(walk, &own);
  return {own.in_binding, own.outside};
}

// The function that a place in the program is in: its name without arguments; else its file and how
// far in it.
std::string function_at(const void* place) {
  Dl_info info{};
  if (!place || dladdr(static_cast<const char*>(place) - 1, &info) == 0) return "unknown";
  if (info.dli_sname) {
    int failed = 0;
    char* plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &failed);
    const std::string name = failed == 0 && plain ? plain : info.dli_sname;
    std::free(plain);
    return name.substr(0, name.find('('));
  }
  const std::string file = info.dli_fname ? info.dli_fname : "program";
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx",
                static_cast<std::size_t>(static_cast<const char*>(place) -
                                         static_cast<const char*>(info.dli_fbase)));
  return file.substr(file.rfind('/') + 1) + offset;
}

// --- what is counted, and the files -------------------------------------------------------------

enum class Way { to, from, collective, file, uncounted };
constexpr const char* WAYS[] = {"to", "from", "collective", "file", "uncounted"};

struct Peer {  // a process: group 0 are the ranks of this world; others are those of other worlds
  int group = 0, rank = -1;
};

struct Move {
  Way way;
  const char* name;  // what kind of message, or which operation
  Peer peer;
  std::int64_t bytes;
};
using Moves = std::vector<Move>;

struct Count {
  std::int64_t calls, bytes;
};

// Lines that say what is counted, and beside it the counts of these lines, in the same order.
class File {
 public:
  bool is_open() const { return lines_ >= 0; }

  void open(const std::string& folder) {
    std::string path = folder + "/rank-XXXXXX";
    lines_ = mkostemp(path.data(), O_CLOEXEC | O_APPEND);
    counts_ = lines_ < 0
                  ? -1
                  : ::open((path + ".counts").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    path_ = path;
    if (counts_ < 0) return fail();
    fchmod(lines_, 0644);
    fchmod(counts_, 0644);
  }

  void say(std::string line) {
    if (!is_open()) return;
    line += '\n';
    if (::write(lines_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) fail();
  }

  // The count of a line that is written now; null if it can't be kept.
  std::size_t add(const std::string& line) {
    if (used_ == room_) grow();
    say(line);
    return used_++;
  }

  Count* count(std::size_t number) { return mapped_ ? &mapped_[number] : nullptr; }

  void sync() {
    if (mapped_) msync(mapped_, room_ * sizeof(Count), MS_SYNC);
  }

 private:
  void grow() {
    if (!is_open()) return;
    const std::size_t more = room_ ? 2 * room_ : 256;
    if (mapped_) munmap(mapped_, room_ * sizeof(Count));
    mapped_ = nullptr;
    const auto bytes = more * sizeof(Count);
    errno = posix_fallocate(counts_, 0, static_cast<off_t>(bytes));  // a full disk is told now
    void* there =
        errno ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, counts_, 0);
    if (there == MAP_FAILED) return fail();
    mapped_ = static_cast<Count*>(there);
    room_ = more;
  }

  void fail() {
    std::fprintf(stderr, "haloscope: %s: %s; this rank is not counted from here on\n",
                 path_.c_str(), std::strerror(errno));
    lines_ = -1;
    mapped_ = nullptr;
  }

  int lines_ = -1, counts_ = -1;
  std::string path_;
  Count* mapped_ = nullptr;
  std::size_t used_ = 0, room_ = 0;
};

struct Prepared {  // a persistent operation: counted when it is started
  const void* place;
  Moves moves;
};

struct State {
  std::recursive_mutex mutex;
  File file;
  std::set<std::string> names;         // all that MPI_Pcontrol named
  const std::string* named = nullptr;  // the current one
  std::map<std::tuple<const std::string*, const void*, Way, std::string_view, int, int>,
           std::size_t>
      lines;
  std::map<std::uintptr_t, Prepared> prepared;
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

void add(const void* place, const Moves& moves) {
  State& own = state();
  if (!own.file.is_open()) return;
  for (const Move& move : moves) {
    const void* where = own.named || move.way == Way::uncounted ? nullptr : place;
    const std::string* named = move.way == Way::uncounted ? nullptr : own.named;
    const auto [found, is_new] = own.lines.try_emplace(
        {named, where, move.way, move.name, move.peer.group, move.peer.rank}, 0);
    if (is_new)
      found->second = own.file.add("[" + json(WAYS[static_cast<int>(move.way)]) + "," +
                                   json(named ? *named : function_at(where)) + "," +
                                   json(move.name) + "," + std::to_string(move.peer.group) + "," +
                                   std::to_string(move.peer.rank) + "]");
    if (Count* count = own.file.count(found->second)) ++count->calls, count->bytes += move.bytes;
  }
}

// Counts a call that the program made. moves says what it moves.
template <class Says>
void count(const void* caller, Says&& moves) {
  const Lock lock(state().mutex);
  if (!state().file.is_open()) return;
  if (const Place place = place_of(caller); place.is_call) add(place.address, moves());
}

template <class Says>
void prepare(const void* caller, MPI_Request request, Says&& moves) {
  const Lock lock(state().mutex);
  if (!state().file.is_open()) return;
  if (const Place place = place_of(caller); place.is_call)
    state().prepared[(std::uintptr_t)request] = {place.address, moves()};
}

void start(MPI_Request request) {
  const Lock lock(state().mutex);
  if (const auto found = state().prepared.find((std::uintptr_t)request);
      found != state().prepared.end())
    add(found->second.place, found->second.moves);
}

// --- processes ----------------------------------------------------------------------------------

using Peers = std::vector<Peer>;

int forget(MPI_Comm, int, void* peers, void*) {
  delete static_cast<Peers*>(peers);
  return MPI_SUCCESS;
}

int forget_of_window(MPI_Win, int, void* peers, void*) {
  delete static_cast<Peers*>(peers);
  return MPI_SUCCESS;
}

// Who the ranks of a group are. Frees the group.
Peers* peers_of(MPI_Group group) {
  State& own = state();
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), there(ranks.size());
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  auto* peers = new Peers(ranks.size());
  for (std::size_t number = 0; number <= own.others.size(); ++number) {
    const MPI_Group one = number ? own.others[number - 1] : own.world;
    if (one == MPI_GROUP_NULL) continue;
    PMPI_Group_translate_ranks(group, size, ranks.data(), one, there.data());
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if ((*peers)[i].rank < 0 && there[i] != MPI_UNDEFINED)
        (*peers)[i] = {static_cast<int>(number), there[i]};
  }
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if ((*peers)[i].rank < 0) (*peers)[i] = {-1, static_cast<int>(i)};  // of nobody that is known
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

Peer peer(MPI_Comm comm, int rank) {  // of its other side, where it has two
  State& own = state();
  if (own.of_comms == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &own.of_comms, nullptr);
  void* found = nullptr;
  int there = 0;
  PMPI_Comm_get_attr(comm, own.of_comms, &found, &there);
  if (!there) {
    found = peers_of(other_side(comm));
    PMPI_Comm_set_attr(comm, own.of_comms, found);
  }
  return static_cast<Peers*>(found)->at(static_cast<std::size_t>(rank));
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
    found = peers_of(group);
    PMPI_Win_set_attr(window, own.of_windows, found);
  }
  return static_cast<Peers*>(found)->at(static_cast<std::size_t>(rank));
}

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

Moves message(std::int64_t count, MPI_Datatype type, int to, MPI_Comm comm) {
  if (to == MPI_PROC_NULL) return {};
  return {{Way::to, MESSAGE, peer(comm, to), bytes(count, type)}};
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

Moves collective(const char* name, std::int64_t size) {
  return {{Way::collective, name, {}, size}};
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
  Peers* peers = peers_of(here);
  std::vector<int> ranks;
  for (const Peer& one : *peers) ranks.push_back(one.group == 0 ? one.rank : -1);
  delete peers;
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

// Called when MPI can be used, in one more way.
void begin(const Launch& launch) {
  State& own = state();
  const std::string folder = variable("HALOSCOPE_PROFILE");
  find_world();
  if (own.file.is_open()) return own.file.say("{\"ended\":false}");
  if (folder.empty() || own.world == MPI_GROUP_NULL) return;
  own.file.open(folder);
  int rank = 0, ranks = 0;
  PMPI_Group_rank(own.world, &rank);
  PMPI_Group_size(own.world, &ranks);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  own.file.say("{\"rank\":" + std::to_string(rank) + ",\"ranks\":" + std::to_string(ranks) +
               ",\"host\":" + json(host) + ",\"job\":" + json(launch.job) + ",\"launched\":" +
               std::to_string(launch.ranks) + ",\"time\":" + std::to_string(now.tv_sec) + "." +
               std::to_string(1'000'000'000 + now.tv_nsec).substr(1) + "}");
}

// Called before MPI can no longer be used in one way.
void end() {
  State& own = state();
  if (find_world()) return;
  for (MPI_Group& one : own.others)
    if (one != MPI_GROUP_NULL) PMPI_Group_free(&one);
  own.of_comms = own.of_windows = MPI_KEYVAL_INVALID;  // they end with MPI
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
int spawned(int root, MPI_Comm comm, MPI_Comm* both, Spawns&& spawns) {
  const std::string path = mark(is_root(root, comm));
  const int code = spawns();
  if (!path.empty()) unlink(path.c_str());
  if (code == MPI_SUCCESS)
    meet(*both, "spawns", json(path.substr(path.rfind('/') + 1)), comm, root);
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

// One that moves data, counted once it has succeeded.
#define COUNTED(NAME, PARAMETERS, ARGUMENTS, MOVES)                           \
  STANDS_FOR(NAME, PARAMETERS, ARGUMENTS) {                                   \
    const int code = real(UNPACK ARGUMENTS);                                  \
    if (code == MPI_SUCCESS) count(caller, [&]() -> Moves { return MOVES; }); \
    return code;                                                              \
  }
// One that moves data whenever its request is started.
#define PREPARED(NAME, PARAMETERS, ARGUMENTS, REQUEST, MOVES)                             \
  STANDS_FOR(NAME, PARAMETERS, ARGUMENTS) {                                               \
    const int code = real(UNPACK ARGUMENTS);                                              \
    if (code == MPI_SUCCESS) prepare(caller, *REQUEST, [&]() -> Moves { return MOVES; }); \
    return code;                                                                          \
  }

// One that moves no data of the program's, though the library may send messages in it.
#define GUARDED(NAME, PARAMETERS, ARGUMENTS) \
  STANDS_FOR(NAME, PARAMETERS, ARGUMENTS) { return real(UNPACK ARGUMENTS); }

#include "wrappers.inc"

STANDS_FOR(MPI_Start, (MPI_Request * request), (request)) {
  start(*request);
  return real(request);
}
STANDS_FOR(MPI_Startall, (int count, MPI_Request requests[]), (count, requests)) {
  for (int i = 0; i < count; ++i) start(requests[i]);
  return real(count, requests);
}
STANDS_FOR(MPI_Request_free, (MPI_Request * request), (request)) {
  {
    const Lock lock(state().mutex);
    state().prepared.erase((std::uintptr_t)*request);
  }
  return real(request);
}

STANDS_FOR(MPI_Init, (int* argc, char*** argv), (argc, argv)) {
  return started([&] { return real(argc, argv); });
}
STANDS_FOR(MPI_Init_thread, (int* argc, char*** argv, int required, int* provided),
           (argc, argv, required, provided)) {
  return started([&] { return real(argc, argv, required, provided); });
}
STANDS_FOR(MPI_Finalize, (), ()) { return real(); }
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
  return spawned(root, comm, both,
                 [&] { return real(command, argv, processes, info, root, comm, both, codes); });
}
STANDS_FOR(MPI_Comm_spawn_multiple,
           (int commands, char* command[], char** argv[], const int processes[],
            const MPI_Info info[], int root, MPI_Comm comm, MPI_Comm* both, int codes[]),
           (commands, command, argv, processes, info, root, comm, both, codes)) {
  return spawned(root, comm, both, [&] {
    return real(commands, command, argv, processes, info, root, comm, both, codes);
  });
}
STANDS_FOR(MPI_Comm_accept,
           (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* both),
           (port, info, root, comm, both)) {
  const int code = real(port, info, root, comm, both);
  if (code == MPI_SUCCESS)
    meet(*both, "accepts", json(is_root(root, comm) ? port : ""), comm, root);
  return code;
}
STANDS_FOR(MPI_Comm_connect,
           (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* both),
           (port, info, root, comm, both)) {
  const int code = real(port, info, root, comm, both);
  if (code == MPI_SUCCESS)
    meet(*both, "connects", json(is_root(root, comm) ? port : ""), comm, root);
  return code;
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

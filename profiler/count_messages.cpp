// SPDX-License-Identifier: BSD-3-Clause
// Counts what a rank of any MPI program sends, to whom, and from where in the program.
//
// A library that is loaded before the program (LD_PRELOAD): it stands before MPI's own functions
// and calls these by their names of the profiling interface. At MPI_Finalize each rank writes a
// file of its own, rank.N.json, into the folder that HALOSCOPE_PROFILE names; nothing is sent. A
// message is counted where it is sent. Where in the program: the function that called MPI, or what
// the program named by MPI_Pcontrol(1000, "name"), until it names another.
#include <cxxabi.h>
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace {

struct Count {
  std::int64_t calls = 0, bytes = 0;
  void add(std::int64_t more) { ++calls, bytes += more; }
};

struct Request {  // a persistent one: counted when it is started
  const void* caller;
  const char* operation;  // a collective one; else null, and it sends
  int destination;
  std::int64_t bytes;
};

struct State {
  std::mutex mutex;
  std::string named;  // by MPI_Pcontrol; empty for none
  std::map<std::tuple<std::string, const void*, int>, Count> sent;  // phase or caller, world rank
  std::map<std::tuple<std::string, const void*, std::string>, Count>
      together;  // ..., collective operation
  std::map<std::uintptr_t, Request> persistent;
  int key = MPI_KEYVAL_INVALID;  // of the world ranks that a communicator keeps
};

State& state() {
  static State* one = new State;  // never destroyed: ranks may end in any order
  return *one;
}

int forget(MPI_Comm, int, void* ranks, void*) {
  delete static_cast<std::vector<int>*>(ranks);
  return MPI_SUCCESS;
}

// The world rank of a rank of a communicator (of its other side, where it has two).
int world_rank(MPI_Comm comm, int rank) {
  State& own = state();
  if (own.key == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &own.key, nullptr);
  void* found = nullptr;
  int there = 0;
  PMPI_Comm_get_attr(comm, own.key, &found, &there);
  if (!there) {
    int two_sided = 0, size = 0;
    MPI_Group group, world;
    PMPI_Comm_test_inter(comm, &two_sided);
    if (two_sided)
      PMPI_Comm_remote_group(comm, &group);
    else
      PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
    auto translated = std::make_unique<std::vector<int>>(ranks.size(), -1);
    PMPI_Group_translate_ranks(group, size, ranks.data(), world, translated->data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    found = translated.release();
    PMPI_Comm_set_attr(comm, own.key, found);
  }
  const auto& ranks = *static_cast<std::vector<int>*>(found);
  return rank >= 0 && static_cast<std::size_t>(rank) < ranks.size()
             ? ranks[static_cast<std::size_t>(rank)]
             : -1;
}

std::int64_t bytes_of(std::int64_t count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_size_x(type, &size);
  return count * static_cast<std::int64_t>(size);
}

template <class Number>
std::int64_t bytes_of(const Number counts[], int size, MPI_Datatype type) {
  std::int64_t sum = 0;
  for (int i = 0; i < size; ++i) sum += counts[i];
  return bytes_of(sum, type);
}

template <class Number>
std::int64_t bytes_of(const Number counts[], int size, const MPI_Datatype types[]) {
  std::int64_t sum = 0;
  for (int i = 0; i < size; ++i) sum += bytes_of(counts[i], types[i]);
  return sum;
}

void count_sent(const void* caller, int destination, std::int64_t bytes) {
  State& own = state();
  own.sent[{own.named, own.named.empty() ? caller : nullptr, destination}].add(bytes);
}

void count_given(const void* caller, const char* operation, std::int64_t bytes) {
  State& own = state();
  own.together[{own.named, own.named.empty() ? caller : nullptr, operation}].add(bytes);
}

void sends(const void* caller, std::int64_t count, MPI_Datatype type, int destination,
           MPI_Comm comm) {
  if (destination == MPI_PROC_NULL) return;
  const std::lock_guard<std::mutex> lock(state().mutex);
  count_sent(caller, world_rank(comm, destination), bytes_of(count, type));
}

void prepares(const void* caller, std::int64_t count, MPI_Datatype type, int destination,
              MPI_Comm comm, MPI_Request* request) {
  if (destination == MPI_PROC_NULL) return;
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().persistent[(std::uintptr_t)*request] = {caller, nullptr, world_rank(comm, destination),
                                                  bytes_of(count, type)};
}

void starts(MPI_Request request) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  const auto found = state().persistent.find((std::uintptr_t)request);
  if (found == state().persistent.end()) return;
  const Request& known = found->second;
  if (known.operation)
    count_given(known.caller, known.operation, known.bytes);
  else
    count_sent(known.caller, known.destination, known.bytes);
}

void joins(const void* caller, const char* operation, std::int64_t bytes) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  count_given(caller, operation, bytes);
}

[[maybe_unused]] void will_join(const void* caller, const char* operation, std::int64_t bytes,
                                MPI_Request request) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().persistent[(std::uintptr_t)request] = {caller, operation, MPI_PROC_NULL, bytes};
}

int size_of(MPI_Comm comm) {
  int size = 0, two_sided = 0;
  PMPI_Comm_test_inter(comm, &two_sided);
  two_sided ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  return size;
}

// What this rank finds of its own in a buffer with all ranks' parts.
template <class Number>
std::int64_t own_part(const Number counts[], MPI_Datatype type, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return bytes_of(counts[rank], type);
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

// A text as JSON has it.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char sign : text) {
    if (sign == '"' || sign == '\\') out += '\\';
    out += static_cast<unsigned char>(sign) < 0x20 ? ' ' : sign;
  }
  return out + "\"";
}

// The function that a place in the program is in: its name without arguments; else its file and how
// far in it.
std::string function_at(const void* place) {
  Dl_info info{};
  if (!place || dladdr(place, &info) == 0) return "unknown";
  if (info.dli_sname) {
    int failed = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(
        abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &failed), std::free);
    const std::string name = failed == 0 && plain ? plain.get() : info.dli_sname;
    return name.substr(0, name.find('('));
  }
  const std::string file = info.dli_fname ? info.dli_fname : "program";
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx",
                static_cast<std::size_t>((const char*)place - (const char*)info.dli_fbase));
  return file.substr(file.rfind('/') + 1) + offset;
}

std::string phase_of(const std::string& named, const void* caller) {
  return named.empty() ? function_at(caller) : named;
}

void write_counts() {
  const char* folder = std::getenv("HALOSCOPE_PROFILE");
  int rank = 0, ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!folder) return;
  const std::string begin = std::string(folder) + "/rank." + std::to_string(rank);
  const std::string path = begin + ".json";
  std::FILE* file = std::fopen(path.c_str(), "wx");
  if (!file && ranks == 1)  // each is alone, and traffic.py says so
    file = std::fopen((begin + "." + std::to_string(getpid()) + ".json").c_str(), "wx");
  if (!file) {  // of several programs under one launcher the first is kept
    std::fprintf(stderr, "haloscope: %s can't be written, or is there already\n", path.c_str());
    return;
  }
  std::map<std::pair<std::string, int>, Count>
      sent;  // several places in one function are one phase
  for (const auto& [key, count] : state().sent) {
    Count& sum = sent[{phase_of(std::get<0>(key), std::get<1>(key)), std::get<2>(key)}];
    sum.calls += count.calls, sum.bytes += count.bytes;
  }
  std::map<std::pair<std::string, std::string>, Count> together;
  for (const auto& [key, count] : state().together) {
    Count& sum = together[{phase_of(std::get<0>(key), std::get<1>(key)), std::get<2>(key)}];
    sum.calls += count.calls, sum.bytes += count.bytes;
  }
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::fprintf(file, "{\"rank\": %d, \"ranks\": %d, \"host\": %s,\n \"sent\": [", rank, ranks,
               quoted(host).c_str());
  const char* comma = "";
  for (const auto& [key, count] : sent) {
    std::fprintf(file, "%s\n  [%s, %d, %lld, %lld]", comma, quoted(key.first).c_str(), key.second,
                 static_cast<long long>(count.calls), static_cast<long long>(count.bytes));
    comma = ",";
  }
  std::fprintf(file, "],\n \"collectives\": [");
  comma = "";
  for (const auto& [key, count] : together) {
    std::fprintf(file, "%s\n  [%s, %s, %lld, %lld]", comma, quoted(key.first).c_str(),
                 quoted(key.second).c_str(), static_cast<long long>(count.calls),
                 static_cast<long long>(count.bytes));
    comma = ",";
  }
  std::fprintf(file, "]}\n");
  std::fclose(file);
}

}  // namespace

#define CALLER __builtin_return_address(0)
#define UNPACK(...) __VA_ARGS__

// MPI 4's functions: Open MPI 5 has some of them, though it says that it is MPI 3.1.
#if MPI_VERSION >= 4
#define HAS_LARGE_COUNTS 1
#define HAS_PERSISTENT_COLLECTIVES 1
#elif defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define HAS_PERSISTENT_COLLECTIVES 1
#endif

#define SENDS(NAME, N)                                                              \
  int MPI_##NAME(const void* b, N n, MPI_Datatype t, int to, int tag, MPI_Comm c) { \
    sends(CALLER, n, t, to, c);                                                     \
    return PMPI_##NAME(b, n, t, to, tag, c);                                        \
  }
#define BEGINS(NAME, N)                                                           \
  int MPI_##NAME(const void* b, N n, MPI_Datatype t, int to, int tag, MPI_Comm c, \
                 MPI_Request* r) {                                                \
    sends(CALLER, n, t, to, c);                                                   \
    return PMPI_##NAME(b, n, t, to, tag, c, r);                                   \
  }
#define PREPARES(NAME, N)                                                         \
  int MPI_##NAME(const void* b, N n, MPI_Datatype t, int to, int tag, MPI_Comm c, \
                 MPI_Request* r) {                                                \
    const int code = PMPI_##NAME(b, n, t, to, tag, c, r);                         \
    prepares(CALLER, n, t, to, c, r);                                             \
    return code;                                                                  \
  }
// One that sends and receives, and waits for both (LAST is a status) or not (a request).
#define EXCHANGES(NAME, N, LAST)                                                      \
  int MPI_##NAME(const void* b, N n, MPI_Datatype t, int to, int tag, void* rb, N rn, \
                 MPI_Datatype rt, int from, int rtag, MPI_Comm c, LAST* last) {       \
    sends(CALLER, n, t, to, c);                                                       \
    return PMPI_##NAME(b, n, t, to, tag, rb, rn, rt, from, rtag, c, last);            \
  }
#define REPLACES(NAME, N, LAST)                                                                 \
  int MPI_##NAME(void* b, N n, MPI_Datatype t, int to, int tag, int from, int rtag, MPI_Comm c, \
                 LAST* last) {                                                                  \
    sends(CALLER, n, t, to, c);                                                                 \
    return PMPI_##NAME(b, n, t, to, tag, from, rtag, c, last);                                  \
  }
// Every function that sends to one rank; C is _c and N MPI_Count for those with large counts.
#define ALL_SENDS(C, N)                 \
  SENDS(Send##C, N)                     \
  SENDS(Ssend##C, N)                    \
  SENDS(Rsend##C, N)                    \
  SENDS(Bsend##C, N)                    \
  BEGINS(Isend##C, N)                   \
  BEGINS(Issend##C, N)                  \
  BEGINS(Irsend##C, N)                  \
  BEGINS(Ibsend##C, N)                  \
  PREPARES(Send_init##C, N)             \
  PREPARES(Ssend_init##C, N)            \
  PREPARES(Rsend_init##C, N)            \
  PREPARES(Bsend_init##C, N)            \
  EXCHANGES(Sendrecv##C, N, MPI_Status) \
  REPLACES(Sendrecv_replace##C, N, MPI_Status)

// A collective operation by the bytes that this rank gives to it: one that waits, one that does
// not, and one that is started again and again.
#define JOINS(NAME, INAME, C, PARAMETERS, ARGUMENTS, BYTES)     \
  int MPI_##NAME##C(UNPACK PARAMETERS) {                        \
    joins(CALLER, #NAME, BYTES);                                \
    return PMPI_##NAME##C(UNPACK ARGUMENTS);                    \
  }                                                             \
  int MPI_##INAME##C(UNPACK PARAMETERS, MPI_Request* request) { \
    joins(CALLER, #INAME, BYTES);                               \
    return PMPI_##INAME##C(UNPACK ARGUMENTS, request);          \
  }
#define WILL_JOIN(NAME, INAME, C, PARAMETERS, ARGUMENTS, BYTES)                      \
  int MPI_##NAME##_init##C(UNPACK PARAMETERS, MPI_Info info, MPI_Request* request) { \
    const int code = PMPI_##NAME##_init##C(UNPACK ARGUMENTS, info, request);         \
    will_join(CALLER, #NAME "_init", BYTES, *request);                               \
    return code;                                                                     \
  }
#define BARRIER(J) J(Barrier, Ibarrier, , (MPI_Comm c), (c), 0)
// Every other one, of counts N and displacements D.
#define COLLECTIVES(J, C, N, D)                                                                    \
  J(Bcast, Ibcast, C, (void* b, N n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c),    \
    is_root(root, c) ? bytes_of(n, t) : 0)                                                         \
  J(Reduce, Ireduce, C,                                                                            \
    (const void* b, void* r, N n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),                 \
    (b, r, n, t, o, root, c), gives_to(root) ? bytes_of(n, t) : 0)                                 \
  J(Allreduce, Iallreduce, C, (const void* b, void* r, N n, MPI_Datatype t, MPI_Op o, MPI_Comm c), \
    (b, r, n, t, o, c), bytes_of(n, t))                                                            \
  J(Scan, Iscan, C, (const void* b, void* r, N n, MPI_Datatype t, MPI_Op o, MPI_Comm c),           \
    (b, r, n, t, o, c), bytes_of(n, t))                                                            \
  J(Exscan, Iexscan, C, (const void* b, void* r, N n, MPI_Datatype t, MPI_Op o, MPI_Comm c),       \
    (b, r, n, t, o, c), bytes_of(n, t))                                                            \
  J(Reduce_scatter, Ireduce_scatter, C,                                                            \
    (const void* b, void* r, const N n[], MPI_Datatype t, MPI_Op o, MPI_Comm c),                   \
    (b, r, n, t, o, c), bytes_of(n, size_of(c), t))                                                \
  J(Reduce_scatter_block, Ireduce_scatter_block, C,                                                \
    (const void* b, void* r, N n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, r, n, t, o, c),       \
    bytes_of(static_cast<std::int64_t>(n) * size_of(c), t))                                        \
  J(Gather, Igather, C,                                                                            \
    (const void* b, N n, MPI_Datatype t, void* r, N m, MPI_Datatype u, int root, MPI_Comm c),      \
    (b, n, t, r, m, u, root, c),                                                                   \
    !gives_to(root)     ? 0                                                                        \
    : b == MPI_IN_PLACE ? bytes_of(m, u)                                                           \
                        : bytes_of(n, t))                                                          \
  J(Gatherv, Igatherv, C,                                                                          \
    (const void* b, N n, MPI_Datatype t, void* r, const N m[], const D d[], MPI_Datatype u,        \
     int root, MPI_Comm c),                                                                        \
    (b, n, t, r, m, d, u, root, c),                                                                \
    !gives_to(root)     ? 0                                                                        \
    : b == MPI_IN_PLACE ? own_part(m, u, c)                                                        \
                        : bytes_of(n, t))                                                          \
  J(Scatter, Iscatter, C,                                                                          \
    (const void* b, N n, MPI_Datatype t, void* r, N m, MPI_Datatype u, int root, MPI_Comm c),      \
    (b, n, t, r, m, u, root, c),                                                                   \
    is_root(root, c) ? bytes_of(static_cast<std::int64_t>(n) * size_of(c), t) : 0)                 \
  J(Scatterv, Iscatterv, C,                                                                        \
    (const void* b, const N n[], const D d[], MPI_Datatype t, void* r, N m, MPI_Datatype u,        \
     int root, MPI_Comm c),                                                                        \
    (b, n, d, t, r, m, u, root, c), is_root(root, c) ? bytes_of(n, size_of(c), t) : 0)             \
  J(Allgather, Iallgather, C,                                                                      \
    (const void* b, N n, MPI_Datatype t, void* r, N m, MPI_Datatype u, MPI_Comm c),                \
    (b, n, t, r, m, u, c), b == MPI_IN_PLACE ? bytes_of(m, u) : bytes_of(n, t))                    \
  J(Allgatherv, Iallgatherv, C,                                                                    \
    (const void* b, N n, MPI_Datatype t, void* r, const N m[], const D d[], MPI_Datatype u,        \
     MPI_Comm c),                                                                                  \
    (b, n, t, r, m, d, u, c), b == MPI_IN_PLACE ? own_part(m, u, c) : bytes_of(n, t))              \
  J(Alltoall, Ialltoall, C,                                                                        \
    (const void* b, N n, MPI_Datatype t, void* r, N m, MPI_Datatype u, MPI_Comm c),                \
    (b, n, t, r, m, u, c),                                                                         \
    b == MPI_IN_PLACE ? bytes_of(static_cast<std::int64_t>(m) * size_of(c), u)                     \
                      : bytes_of(static_cast<std::int64_t>(n) * size_of(c), t))                    \
  J(Alltoallv, Ialltoallv, C,                                                                      \
    (const void* b, const N n[], const D d[], MPI_Datatype t, void* r, const N m[], const D e[],   \
     MPI_Datatype u, MPI_Comm c),                                                                  \
    (b, n, d, t, r, m, e, u, c),                                                                   \
    b == MPI_IN_PLACE ? bytes_of(m, size_of(c), u) : bytes_of(n, size_of(c), t))                   \
  J(Alltoallw, Ialltoallw, C,                                                                      \
    (const void* b, const N n[], const D d[], const MPI_Datatype t[], void* r, const N m[],        \
     const D e[], const MPI_Datatype u[], MPI_Comm c),                                             \
    (b, n, d, t, r, m, e, u, c),                                                                   \
    b == MPI_IN_PLACE ? bytes_of(m, size_of(c), u) : bytes_of(n, size_of(c), t))

extern "C" {

ALL_SENDS(, int)
BARRIER(JOINS)
COLLECTIVES(JOINS, , int, int)

#ifdef HAS_PERSISTENT_COLLECTIVES
EXCHANGES(Isendrecv, int, MPI_Request)
REPLACES(Isendrecv_replace, int, MPI_Request)
BARRIER(WILL_JOIN)
COLLECTIVES(WILL_JOIN, , int, int)

// All its partitions are one message.
int MPI_Psend_init(const void* b, int partitions, MPI_Count n, MPI_Datatype t, int to, int tag,
                   MPI_Comm c, MPI_Info info, MPI_Request* r) {
  const int code = PMPI_Psend_init(b, partitions, n, t, to, tag, c, info, r);
  prepares(CALLER, partitions * static_cast<std::int64_t>(n), t, to, c, r);
  return code;
}
#endif

#ifdef HAS_LARGE_COUNTS
ALL_SENDS(_c, MPI_Count)
EXCHANGES(Isendrecv_c, MPI_Count, MPI_Request)
REPLACES(Isendrecv_replace_c, MPI_Count, MPI_Request)
COLLECTIVES(JOINS, _c, MPI_Count, MPI_Aint)
COLLECTIVES(WILL_JOIN, _c, MPI_Count, MPI_Aint)
#endif

int MPI_Start(MPI_Request* request) {
  starts(*request);
  return PMPI_Start(request);
}
int MPI_Startall(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i) starts(requests[i]);
  return PMPI_Startall(count, requests);
}
int MPI_Request_free(MPI_Request* request) {
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    state().persistent.erase((std::uintptr_t)*request);
  }
  return PMPI_Request_free(request);
}

int MPI_Pcontrol(const int level, ...) {
  if (level != 1000) return MPI_SUCCESS;  // other tools', whose level has no name beside it
  std::va_list words;
  va_start(words, level);
  const char* name = va_arg(words, const char*);
  va_end(words);
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().named = name ? name : "";
  return MPI_SUCCESS;
}

int MPI_Finalize() {
  write_counts();
  return PMPI_Finalize();
}

}  // extern "C"

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
#include <mpi.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <string>
#include <vector>

#include "calls.hpp"
#include "counts.hpp"
#include "moves.hpp"
#include "places.hpp"
#include "processes.hpp"
#include "worlds.hpp"

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

// A function that waits for one request; REACHED is whether it ended.
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

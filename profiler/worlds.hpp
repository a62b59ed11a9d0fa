// SPDX-License-Identifier: BSD-3-Clause
// The beginning and the end of MPI in this process, and the worlds that it meets.
#pragma once

#include <link.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "counts.hpp"
#include "moves.hpp"
#include "processes.hpp"

namespace {

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
               "give the program's library: haloscope profile --toolchain NAME\n",
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

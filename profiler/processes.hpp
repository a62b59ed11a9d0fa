// SPDX-License-Identifier: BSD-3-Clause
// Who the ranks of communicators and windows are.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "counts.hpp"

namespace {

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

}  // namespace

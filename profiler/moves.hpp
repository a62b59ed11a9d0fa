// SPDX-License-Identifier: BSD-3-Clause
// What calls move, in the words of the table in wrappers.py.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "counts.hpp"
#include "processes.hpp"

namespace {

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

}  // namespace

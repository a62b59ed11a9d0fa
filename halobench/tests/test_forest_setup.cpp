// SPDX-License-Identifier: BSD-3-Clause
// The set-up of random star forests: which edges are local, and what each rank sends and to how
// many ranks, counted on all ranks' edges at once.
#include <set>

#include "base/as_size.hpp"
#include "expect.hpp"
#include "forest_model.hpp"
#include "star_forest/forest_edges.hpp"
#include "star_forest/host_space.hpp"

using namespace halobench;

namespace {

/// Edges as a rank gives them: all leaves, those in holes left out.
struct Given {
  std::vector<Root> edges;
  std::vector<std::int64_t> leaves;
};

Given given(const Graph& graph, std::size_t rank) {
  Given all;
  for (const auto& leaf : graph.leaves[rank]) {
    all.edges.push_back(leaf.root);
    all.leaves.push_back(leaf.index);
  }
  return all;
}

/// Ranks that another one shares edges with, and their number.
struct Counted {
  std::set<int> ranks;
  std::int64_t edges = 0;
};

void set_up_finds_every_edge(const Communicator& comm, const Graph& graph) {
  const auto rank = as_size(comm.rank());
  std::int64_t local = 0;
  Counted as_root;
  Counted as_leaf;
  for_each_edge(graph, [&](std::size_t leaf_rank, const Leaf&, std::size_t root_rank) {
    if (leaf_rank == root_rank) {
      local += leaf_rank == rank ? 1 : 0;
    } else if (root_rank == rank) {
      as_root.ranks.insert(static_cast<int>(leaf_rank));
      ++as_root.edges;
    } else if (leaf_rank == rank) {
      as_leaf.ranks.insert(static_cast<int>(root_rank));
      ++as_leaf.edges;
    }
  });
  Meter meter{Meter::Setting{}};
  Memory memory{false};
  const auto space = make_host_space(meter, memory);
  const auto [edges, leaves] = given(graph, rank);
  const StarForest forest(comm, *space, graph.roots[rank], edges, leaves);
  expect::equal(forest.local_units(), local);
  expect::equal(forest.bcast_sent().messages, static_cast<std::int64_t>(as_root.ranks.size()));
  expect::equal(forest.bcast_sent().units, as_root.edges);
  expect::equal(forest.reduce_sent().messages, static_cast<std::int64_t>(as_leaf.ranks.size()));
  expect::equal(forest.reduce_sent().units, as_leaf.edges);
}

std::int64_t at(const Sequence& sequence, std::int64_t k) {
  return sequence.is_run() ? sequence.start() + k : sequence.list()[as_size(k)];
}

/// Bundles have every edge once, in the order given, by rank.
void bundles_have_every_edge(const Communicator& comm, const Graph& graph) {
  const auto [edges, leaves] = given(graph, as_size(comm.rank()));
  int last = -1;
  std::size_t found = 0;
  for (const auto& bundle : by_rank(edges, leaves)) {
    expect::is_true(bundle.rank > last, "bundles in rank order");
    last = bundle.rank;
    std::int64_t k = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].rank != bundle.rank) continue;
      expect::is_true(k < bundle.leaves.count(), "an edge is missing");
      if (k >= bundle.leaves.count()) return;
      expect::equal(at(bundle.leaves, k), leaves[i]);
      expect::equal(at(bundle.roots, k), edges[i].index);
      ++k;
    }
    found += as_size(k);
  }
  expect::equal(found, edges.size());
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const auto graph = random_graph(comm.size(), random);
    set_up_finds_every_edge(comm, graph);
    bundles_have_every_edge(comm, graph);
  }
  return expect::exit_code();
}

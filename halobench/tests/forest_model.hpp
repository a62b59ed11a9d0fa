// SPDX-License-Identifier: BSD-3-Clause
// Star forests as nobody in a parallel program sees them, with all ranks' arrays in one place: what
// an operation on a real one must leave.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "base/as_size.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench {

struct Leaf {
  std::int64_t index;
  Root root;
};

/// A forest as nobody in a parallel program sees it: all ranks' roots and leaves.
struct Graph {
  std::vector<std::int64_t> roots;        ///< how many, by rank
  std::vector<std::vector<Leaf>> leaves;  ///< by rank, in the order given
  std::vector<std::int64_t> leaf_space;   ///< length of the leaf array, by rank
  bool dense = false;

  std::size_t ranks() const { return roots.size(); }

  /// Whether some root has several leaves.
  bool shares() const {
    std::vector<std::pair<int, std::int64_t>> all;
    for (const auto& own : leaves) {
      for (const auto& leaf : own) all.emplace_back(leaf.root.rank, leaf.root.index);
    }
    std::ranges::sort(all);
    return std::ranges::adjacent_find(all) != all.end();
  }
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(end));
  }
  bool chance(std::int64_t one_in) { return below(one_in) == 0; }

  template <class Value>
  Value value() {
    return static_cast<Value>(static_cast<double>(below(2000001) - 1000000) / 7.0);
  }

 private:
  std::mt19937_64 engine_;
};

/// Empty ranks, many leaves on a root, the same root again and again, self edges, holes.
inline Graph random_graph(int ranks, Random& random) {
  Graph graph;
  graph.dense = random.chance(3);
  for (int rank = 0; rank < ranks; ++rank) {
    graph.roots.push_back(random.chance(4) ? 0 : 1 + random.below(60));
  }
  const bool crowded = random.chance(3);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& own = graph.leaves.emplace_back();
    graph.leaf_space.push_back(random.chance(4) ? 0 : random.below(80));
    for (std::int64_t index = 0; index < graph.leaf_space.back(); ++index) {
      if (!graph.dense && random.chance(3)) continue;
      Root root{static_cast<int>(random.below(ranks)), 0};
      while (graph.roots[as_size(root.rank)] == 0) {
        if (std::ranges::max(graph.roots) == 0) graph.roots[0] = 5;
        root.rank = (root.rank + 1) % ranks;
      }
      const auto there = graph.roots[as_size(root.rank)];
      root.index = crowded ? random.below(std::min<std::int64_t>(2, there)) : random.below(there);
      own.push_back({index, root});
    }
    if (!graph.dense && random.chance(2)) std::shuffle(own.begin(), own.end(), std::mt19937(7));
    if (graph.dense) graph.leaf_space.back() = std::ssize(own);
  }
  return graph;
}

/// Each rank's leaves: the next rank's roots and some of its own, as runs and as boxes; a root has
/// at most one leaf.
inline Graph regular_graph(int ranks, bool rows) {
  Graph graph;
  for (int rank = 0; rank < ranks; ++rank) {
    graph.roots.push_back(100);
    graph.leaf_space.push_back(120);
    auto& own = graph.leaves.emplace_back();
    for (std::int64_t i = 0; i < 20; ++i) {
      own.push_back({rows ? i : 100 - 5 * i, {(rank + 1) % ranks, 7 + (rows ? i : 3 * i)}});
    }
    for (std::int64_t i = 0; i < 16; ++i) own.push_back({102 + i, {rank, 70 + i}});
  }
  return graph;
}

/// Each rank's leaves are parts of arrays of three dimensions, of the next rank's roots and of its
/// own: rows and planes are apart by other numbers at either end.
inline Graph planes_graph(int ranks) {
  Graph graph;
  for (int rank = 0; rank < ranks; ++rank) {
    graph.roots.push_back(240);
    graph.leaf_space.push_back(200);
    auto& own = graph.leaves.emplace_back();
    for (const bool remote : {true, false}) {
      const Root root{remote ? (rank + 1) % ranks : rank, remote ? 5 : 120};
      const std::int64_t leaf = remote ? 3 : 100;
      for (std::int64_t i = 0; i < 24; ++i) {
        const auto [plane, row, column] = std::array{i / 8, i / 2 % 4, i % 2};
        own.push_back({leaf + 30 * plane + 5 * row + column,
                       {root.rank, root.index + 40 * plane + 7 * row + column}});
      }
    }
  }
  return graph;
}

template <class Value>
using Arrays = std::vector<std::vector<Value>>;

template <class Value>
Arrays<Value> random_arrays(const std::vector<std::int64_t>& lengths, std::int64_t width,
                            Random& random) {
  Arrays<Value> arrays;
  for (const auto length : lengths) {
    auto& array = arrays.emplace_back(as_size(length * width));
    for (auto& value : array) value = random.value<Value>();
  }
  return arrays;
}

template <class Value>
void join(const Value* from, Value* to, std::int64_t width, Operation operation) {
  for (std::int64_t i = 0; i < width; ++i) {
    if (operation == Operation::replace) to[i] = from[i];
    if (operation == Operation::sum) to[i] = to[i] + from[i];
    if (operation == Operation::min) to[i] = from[i] < to[i] ? from[i] : to[i];
    if (operation == Operation::max) to[i] = from[i] > to[i] ? from[i] : to[i];
  }
}

/// The order that is promised: a root's own rank first, then the other ranks in theirs.
template <class Body>
void for_each_edge(const Graph& graph, Body&& body) {
  for (const bool own : {true, false}) {
    for (std::size_t rank = 0; rank < graph.ranks(); ++rank) {
      for (const auto& leaf : graph.leaves[rank]) {
        const auto root_rank = as_size(leaf.root.rank);
        if ((root_rank == rank) == own) body(rank, leaf, root_rank);
      }
    }
  }
}

template <class Value>
void model_bcast(const Graph& graph, std::int64_t width, const Arrays<Value>& roots,
                 Arrays<Value>& leaves, Operation operation) {
  for_each_edge(graph, [&](std::size_t rank, const Leaf& leaf, std::size_t root_rank) {
    join(roots[root_rank].data() + leaf.root.index * width,
         leaves[rank].data() + leaf.index * width, width, operation);
  });
}

template <class Value>
void model_reduce(const Graph& graph, std::int64_t width, const Arrays<Value>& leaves,
                  Arrays<Value>& roots, Operation operation) {
  for_each_edge(graph, [&](std::size_t rank, const Leaf& leaf, std::size_t root_rank) {
    join(leaves[rank].data() + leaf.index * width,
         roots[root_rank].data() + leaf.root.index * width, width, operation);
  });
}

}  // namespace halobench

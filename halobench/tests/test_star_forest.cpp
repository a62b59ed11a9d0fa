// Star forests against a model that holds all ranks' arrays: random forests and regular ones, every
// operation and type, several in flight; and what is refused.
#include <algorithm>
#include <random>

#include "base/as_size.hpp"
#include "base/usage_error.hpp"
#include "expect.hpp"
#include "star_forest/star_forest.hpp"

using namespace halobench;

namespace {

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
Graph random_graph(int ranks, Random& random) {
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
Graph regular_graph(int ranks, bool rows) {
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

constexpr std::int64_t no_cache = 1;  ///< byte: every copy of boxes goes past the caches

struct Machine {
  explicit Machine(std::int64_t cached_bytes = 0) : space(meter, memory, cached_bytes) {}

  Meter meter{Meter::Setting{}};
  Memory memory{false};
  HostSpace space;
};

std::unique_ptr<StarForest> build(const Communicator& comm, Machine& machine, const Graph& graph) {
  const auto rank = as_size(comm.rank());
  std::vector<Root> edges;
  std::vector<std::int64_t> leaves;
  for (const auto& leaf : graph.leaves[rank]) {
    edges.push_back(leaf.root);
    if (!graph.dense) leaves.push_back(leaf.index);
  }
  return std::make_unique<StarForest>(comm, machine.space, graph.roots[rank], edges, leaves);
}

/// Every operation there and back, twice on the same buffers; both of the model and of the forest.
template <class Value>
void operations_agree(const Communicator& comm, const Graph& graph, StarForest& forest,
                      std::int64_t width, Random& random) {
  const auto rank = as_size(comm.rank());
  const auto unit = Unit::of<Value>(width);
  auto roots = random_arrays<Value>(graph.roots, width, random);
  auto leaves = random_arrays<Value>(graph.leaf_space, width, random);
  auto my_roots = roots[rank];
  auto my_leaves = leaves[rank];
  using enum Operation;
  for (int round = 0; round < 2; ++round) {
    for (const auto operation : {max, replace, sum, min}) {
      model_bcast(graph, width, roots, leaves, operation);
      forest.bcast_begin(unit, my_roots.data(), my_leaves.data(), operation);
      forest.bcast_end(unit, my_roots.data(), my_leaves.data(), operation);
      expect::is_true(my_leaves == leaves[rank], "bcast: other leaves");
      for (auto& array : leaves) {
        for (auto& value : array) value = random.value<Value>();
      }
      my_leaves = leaves[rank];
      if (operation == replace && graph.shares()) {
        expect::throws<UsageError>(
            [&] { forest.reduce_begin(unit, my_leaves.data(), my_roots.data(), operation); },
            "has several leaves");
        continue;
      }
      model_reduce(graph, width, leaves, roots, operation);
      forest.reduce_begin(unit, my_leaves.data(), my_roots.data(), operation);
      forest.reduce_end(unit, my_leaves.data(), my_roots.data(), operation);
      expect::is_true(my_roots == roots[rank], "reduce: other roots");
    }
  }
}

/// Two broadcasts and a reduction at once, ended in another order than begun.
void several_are_in_flight(const Communicator& comm, const Graph& graph, StarForest& forest,
                           Random& random) {
  const auto rank = as_size(comm.rank());
  const auto roots = random_arrays<double>(graph.roots, 1, random);
  auto first = random_arrays<double>(graph.leaf_space, 1, random);
  auto second = random_arrays<double>(graph.leaf_space, 1, random);
  const auto counted = random_arrays<std::int32_t>(graph.leaf_space, 2, random);
  auto counts = random_arrays<std::int32_t>(graph.roots, 2, random);
  auto my_first = first[rank];
  auto my_second = second[rank];
  auto my_counts = counts[rank];
  const auto real = Unit::of<double>();
  const auto pair = Unit::of<std::int32_t>(2);
  const auto* my_roots = roots[rank].data();
  forest.bcast_begin(real, my_roots, my_first.data());
  forest.reduce_begin(pair, counted[rank].data(), my_counts.data(), Operation::sum);
  forest.bcast_begin(real, my_roots, my_second.data(), Operation::max);
  forest.bcast_end(real, my_roots, my_second.data(), Operation::max);
  forest.bcast_end(real, my_roots, my_first.data());
  forest.reduce_end(pair, counted[rank].data(), my_counts.data(), Operation::sum);
  model_bcast(graph, 1, roots, first, Operation::replace);
  model_bcast(graph, 1, roots, second, Operation::max);
  model_reduce(graph, 2, counted, counts, Operation::sum);
  expect::is_true(my_first == first[rank], "the first broadcast");
  expect::is_true(my_second == second[rank], "the second broadcast");
  expect::is_true(my_counts == counts[rank], "the reduction");
}

void forest_agrees_with_the_model(const Communicator& comm, const Graph& graph, Random& random,
                                  std::int64_t cached_bytes = 0) {
  Machine machine(cached_bytes);
  const auto forest = build(comm, machine, graph);
  operations_agree<double>(comm, graph, *forest, 1, random);
  operations_agree<float>(comm, graph, *forest, 3, random);
  operations_agree<std::int32_t>(comm, graph, *forest, 2, random);
  several_are_in_flight(comm, graph, *forest, random);
}

/// Runs go out of the caller's memory and into it; sums need a buffer where they arrive.
void runs_need_no_buffers(const Communicator& comm) {
  Machine machine;
  const auto graph = regular_graph(comm.size(), true);
  const auto forest = build(comm, machine, graph);
  std::vector<double> roots(100, 1.0);
  std::vector<double> leaves(120);
  const auto unit = Unit::of<double>();
  forest->bcast_begin(unit, roots.data(), leaves.data());
  forest->bcast_end(unit, roots.data(), leaves.data());
  forest->reduce_begin(unit, leaves.data(), roots.data(), Operation::replace);
  forest->reduce_end(unit, leaves.data(), roots.data(), Operation::replace);
  expect::equal(machine.memory.allocated_bytes(), 0);
  forest->reduce_begin(unit, leaves.data(), roots.data(), Operation::sum);
  forest->reduce_end(unit, leaves.data(), roots.data(), Operation::sum);
  expect::equal(machine.memory.allocated_bytes(), comm.size() == 1 ? 0 : 160);
  const auto [messages, units] = forest->bcast_sent();
  expect::equal(messages, comm.size() == 1 ? 0 : 1);
  expect::equal(units, comm.size() == 1 ? 0 : 20);
  expect::equal(forest->reduce_sent().units, units);
  using Part = StarForest::Part;
  expect::equal(forest->bcast_moves(Part::scatter), comm.size() == 1 ? 36 : 16);
  for (const auto part : {Part::pack, Part::unpack}) {
    expect::equal(forest->bcast_moves(part), 0);
    expect::equal(forest->reduce_moves(part, Operation::replace), 0);
  }
  expect::equal(forest->reduce_moves(Part::pack, Operation::sum), 0);
  expect::equal(forest->reduce_moves(Part::unpack, Operation::sum), units);
}

/// What is no run is packed and unpacked, whatever is done with it.
void boxes_pass_through_buffers(const Communicator& comm) {
  Machine machine;
  const auto forest = build(comm, machine, regular_graph(comm.size(), false));
  const std::int64_t remote = comm.size() == 1 ? 0 : 20;
  for (const auto part : {StarForest::Part::pack, StarForest::Part::unpack}) {
    expect::equal(forest->bcast_moves(part), remote);
    expect::equal(forest->reduce_moves(part, Operation::sum), remote);
  }
  expect::equal(forest->bcast_moves(StarForest::Part::messages), remote);
}

/// More buffers than links are kept for.
void many_buffers_take_turns(const Communicator& comm) {
  Machine machine;
  const auto forest = build(comm, machine, regular_graph(comm.size(), true));
  std::vector<std::vector<double>> leaves(100, std::vector<double>(120));
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::vector<double> roots(100, static_cast<double>(i));
    forest->bcast_begin(Unit::of<double>(), roots.data(), leaves[i].data());
    forest->bcast_end(Unit::of<double>(), roots.data(), leaves[i].data());
    expect::equal(leaves[i][3], static_cast<double>(i));
  }
}

void bad_forests_are_refused_everywhere(const Communicator& comm) {
  const int last = comm.size() - 1;
  const auto refused = [&](std::vector<Root> edges, std::vector<std::int64_t> leaves,
                           const std::string& part) {
    if (comm.rank() != last) edges.clear(), leaves.clear();
    Machine machine;
    expect::throws<UsageError>(
        [&] { const StarForest forest(comm, machine.space, 10, edges, leaves); }, part);
  };
  const auto me = std::to_string(last);
  refused({{0, 3}, {0, 10}}, {4, 7},
          "leaf 7 of rank " + me + ": its root is index 10 of rank 0, which has 0 to 9");
  refused({{last, -1}}, {}, "leaf 0 of rank " + me + ": its root is index -1 of rank " + me);
  refused({{comm.size(), 0}}, {2},
          "leaf 2 of rank " + me + ": its root is on rank " + std::to_string(comm.size()));
  refused({{0, 0}, {0, 1}, {0, 2}}, {5, 2, 5}, "leaf 5 of rank " + me + " is given twice");
  refused({{0, 0}}, {-1}, "leaf -1 of rank " + me + ": indices begin at 0");
  refused({{0, 0}}, {1, 2}, "gives 2 leaves and 1 roots of leaves");
}

/// The operation stays in flight, and its right end ends it.
void what_was_not_begun_is_not_ended(const Communicator& comm) {
  Machine machine;
  const auto forest = build(comm, machine, regular_graph(comm.size(), false));
  std::vector<double> roots(200, 2.0);
  std::vector<double> leaves(240);
  const auto unit = Unit::of<double>();
  const auto refused = [&](const Unit& other, Operation operation, const std::string& part) {
    expect::throws<std::logic_error>(
        [&] { forest->bcast_end(other, roots.data(), leaves.data(), operation); }, part);
  };
  refused(unit, Operation::replace, "nothing was begun with these arrays");
  forest->bcast_begin(unit, roots.data(), leaves.data());
  const std::string otherwise = "begun with another unit or operation";
  refused(Unit::of<float>(), Operation::replace, otherwise);
  refused(Unit::of<double>(2), Operation::replace, otherwise);
  refused(unit, Operation::sum, otherwise);
  forest->bcast_end(unit, roots.data(), leaves.data());
  expect::equal(leaves[100], 2.0);
  forest->bcast_begin(unit, roots.data(), leaves.data());  // the destructor completes it
}

/// Everybody begins it for the first time, with two units or operations: an error on every rank.
void ranks_agree_on_what_they_begin(const Communicator& comm) {
  if (comm.size() == 1) return;
  std::vector<double> roots(200, 2.0);
  std::vector<double> leaves(240);
  const auto last = comm.rank() == comm.size() - 1;
  const auto refused = [&](const Unit& unit, Operation operation, const std::string& others) {
    Machine machine;
    const auto forest = build(comm, machine, regular_graph(comm.size(), false));
    const auto own_unit = last ? unit : Unit::of<double>();
    const auto own = last ? operation : Operation::max;
    expect::throws<std::logic_error>(
        [&] {
          forest->bcast_begin(own_unit, roots.data(), leaves.data(), own);
          forest->bcast_end(own_unit, roots.data(), leaves.data(), own);
        },
        others);
    comm.barrier();
  };
  refused(Unit::of<float>(), Operation::max, "bcast of 1 float with max");
  refused(Unit::of<double>(2), Operation::max, "bcast of 2 double with max");
  refused(Unit::of<double>(), Operation::sum, "bcast of 1 double with sum");
}

/// After the operations that all agree on, one that only rank 0 begins, and for the first time:
/// those that receive the other notice, and nobody waits for ever.
void a_message_says_what_it_carries(const Communicator& comm) {
  if (comm.size() == 1) return;
  Machine machine;
  const auto forest = build(comm, machine, regular_graph(comm.size(), false));
  std::vector<double> roots(200, 2.0);
  std::vector<double> leaves(240);
  for (int i = 0; i < 2; ++i) {
    forest->bcast_begin(Unit::of<double>(), roots.data(), leaves.data());
    forest->bcast_end(Unit::of<double>(), roots.data(), leaves.data());
  }
  comm.barrier();
  const auto unit = comm.rank() == 0 ? Unit::of<float>() : Unit::of<double>();
  forest->bcast_begin(unit, roots.data(), leaves.data());
  std::string said;
  try {
    forest->bcast_end(unit, roots.data(), leaves.data());
  } catch (const std::logic_error& error) {
    said = error.what();
  }
  comm.barrier();
  const bool noticed = !said.empty();
  expect::is_true(comm.sum(std::int64_t{noticed ? 1 : 0}) > 0, "nobody noticed");
  if (noticed)
    expect::contains(said, comm.rank() == 0 ? "where this rank began bcast of 1 float"
                                            : "rank 0 began bcast of 1 float");
}

/// A step made of its parts leaves what the step leaves.
void parts_make_the_whole(const Communicator& comm) {
  Machine machine;
  const auto forest = build(comm, machine, regular_graph(comm.size(), false));
  const auto unit = Unit::of<double>();
  std::vector<double> roots(200, 2.0);
  std::vector<double> leaves(240, -1.0);
  forest->bcast_begin(unit, roots.data(), leaves.data());
  forest->bcast_end(unit, roots.data(), leaves.data());
  const auto expected = leaves;
  std::ranges::fill(leaves, -1.0);
  using enum StarForest::Part;
  for (const auto part : {pack, messages, scatter, unpack}) {
    forest->run_bcast_part(part, unit, roots.data(), leaves.data());
  }
  expect::is_true(leaves == expected, "the parts leave something else");
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  Random random(20);
  for (int round = 0; round < 24; ++round) {
    forest_agrees_with_the_model(comm, random_graph(comm.size(), random), random);
  }
  for (const bool rows : {true, false}) {
    for (const auto cached_bytes : {std::int64_t{0}, no_cache}) {
      forest_agrees_with_the_model(comm, regular_graph(comm.size(), rows), random, cached_bytes);
    }
  }
  runs_need_no_buffers(comm);
  boxes_pass_through_buffers(comm);
  many_buffers_take_turns(comm);
  bad_forests_are_refused_everywhere(comm);
  what_was_not_begun_is_not_ended(comm);
  parts_make_the_whole(comm);
  ranks_agree_on_what_they_begin(comm);
  a_message_says_what_it_carries(comm);
  return expect::exit_code();
}

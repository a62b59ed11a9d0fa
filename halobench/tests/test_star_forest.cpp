// SPDX-License-Identifier: BSD-3-Clause
// Star forests against a model that holds all ranks' arrays: random forests and regular ones, every
// operation and type, several in flight, in the host's memory and in a device's that lags; and what
// is refused.
#include <algorithm>

#include "base/as_size.hpp"
#include "base/simulation.hpp"
#include "base/usage_error.hpp"
#include "expect.hpp"
#include "forest_model.hpp"
#include "forgetful_space.hpp"
#include "mpi_on_stream.hpp"
#include "star_forest/host_space.hpp"
#include "star_forest/star_forest.hpp"

using namespace halobench;

namespace {

constexpr std::int64_t no_cache = 1;  ///< byte: every copy of boxes goes past the caches

/// A space, and what it needs.
struct Machine {
  explicit Machine(const SpaceMaker& make_space = make_host_space)
      : space(make_space(meter, memory)) {}

  Meter meter{Meter::Setting{}};
  Memory memory{false};
  std::unique_ptr<Space> space;
};

std::unique_ptr<Space> make_space_without_cache(Meter& meter, Memory& memory) {
  return std::make_unique<HostSpace>(meter, memory, no_cache);
}

SpaceMaker maker_of(const DeviceSpace::Setting& setting, Wait left_out = Wait::none) {
  return [=](Meter& meter, Memory& memory) {
    return std::make_unique<ForgetfulSpace>(meter, memory, setting, left_out);
  };
}

/// Of a device whose stream sends and receives by itself.
SpaceMaker maker_by_stream(const Communicator& comm, const DeviceSpace::Setting& setting) {
  return [=, &comm](Meter& meter, Memory& memory) {
    return std::make_unique<ForgetfulSpace>(meter, memory, setting, Wait::none,
                                            std::make_unique<MpiOnStream>(comm));
  };
}

/// The host's memory, with and without caches; where ranks are processes, a device's, too.
std::vector<SpaceMaker> all_makers(const Communicator& comm) {
  std::vector<SpaceMaker> all{make_host_space, make_space_without_cache};
  if (simulated()) return all;
  for (const bool staged : {false, true}) {
    all.push_back(maker_of({Ordering::general, staged}));
    all.push_back(maker_of({Ordering::default_stream, staged}));
    all.push_back(maker_of({Ordering::default_stream, staged, true}));
  }
  all.push_back(maker_by_stream(comm, {Ordering::general}));
  all.push_back(maker_by_stream(comm, {Ordering::default_stream}));
  return all;
}

/// Values of the host in a space.
template <class Value>
class Placed {
 public:
  Placed(Space& space, const std::vector<Value>& values)
      : space_(space),
        count_(std::ssize(values)),
        array_(space.allocate<Value>(std::ssize(values))) {
    write(values);
  }

  Value* data() const { return array_.data(); }
  void write(const std::vector<Value>& values) {
    fill(space_, array_, count_, [&](std::int64_t i) { return values[as_size(i)]; });
  }
  std::vector<Value> read() const {
    std::vector<Value> values;
    visit(space_, array_, count_, [&](std::int64_t, Value value) { values.push_back(value); });
    return values;
  }

 private:
  Space& space_;
  std::int64_t count_;
  SpaceArray<Value> array_;
};

std::unique_ptr<StarForest> build(const Communicator& comm, Machine& machine, const Graph& graph) {
  const auto rank = as_size(comm.rank());
  std::vector<Root> edges;
  std::vector<std::int64_t> leaves;
  for (const auto& leaf : graph.leaves[rank]) {
    edges.push_back(leaf.root);
    if (!graph.dense) leaves.push_back(leaf.index);
  }
  return std::make_unique<StarForest>(comm, *machine.space, graph.roots[rank], edges, leaves);
}

/// Every operation there and back, twice on the same buffers; both of the model and of the forest.
template <class Value>
void operations_agree(const Communicator& comm, Space& space, const Graph& graph,
                      StarForest& forest, std::int64_t width, Random& random) {
  const auto rank = as_size(comm.rank());
  const auto unit = Unit::of<Value>(width);
  auto roots = random_arrays<Value>(graph.roots, width, random);
  auto leaves = random_arrays<Value>(graph.leaf_space, width, random);
  const Placed my_roots(space, roots[rank]);
  Placed my_leaves(space, leaves[rank]);
  using enum Operation;
  for (int round = 0; round < 2; ++round) {
    for (const auto operation : {max, replace, sum, min}) {
      model_bcast(graph, width, roots, leaves, operation);
      forest.bcast_begin(unit, my_roots.data(), my_leaves.data(), operation);
      forest.bcast_end(unit, my_roots.data(), my_leaves.data(), operation);
      expect::is_true(my_leaves.read() == leaves[rank], "bcast: other leaves");
      for (auto& array : leaves) {
        for (auto& value : array) value = random.value<Value>();
      }
      my_leaves.write(leaves[rank]);
      if (operation == replace && graph.shares()) {
        expect::throws<UsageError>(
            [&] { forest.reduce_begin(unit, my_leaves.data(), my_roots.data(), operation); },
            "has several leaves");
        continue;
      }
      model_reduce(graph, width, leaves, roots, operation);
      forest.reduce_begin(unit, my_leaves.data(), my_roots.data(), operation);
      forest.reduce_end(unit, my_leaves.data(), my_roots.data(), operation);
      expect::is_true(my_roots.read() == roots[rank], "reduce: other roots");
    }
  }
}

/// Two broadcasts and a reduction at once, ended in another order than begun.
void several_are_in_flight(const Communicator& comm, Space& space, const Graph& graph,
                           StarForest& forest, Random& random) {
  const auto rank = as_size(comm.rank());
  const auto roots = random_arrays<double>(graph.roots, 1, random);
  auto first = random_arrays<double>(graph.leaf_space, 1, random);
  auto second = random_arrays<double>(graph.leaf_space, 1, random);
  const auto counted = random_arrays<std::int32_t>(graph.leaf_space, 2, random);
  auto counts = random_arrays<std::int32_t>(graph.roots, 2, random);
  const Placed my_roots(space, roots[rank]);
  const Placed my_first(space, first[rank]);
  const Placed my_second(space, second[rank]);
  const Placed my_counted(space, counted[rank]);
  const Placed my_counts(space, counts[rank]);
  const auto real = Unit::of<double>();
  const auto pair = Unit::of<std::int32_t>(2);
  forest.bcast_begin(real, my_roots.data(), my_first.data());
  forest.reduce_begin(pair, my_counted.data(), my_counts.data(), Operation::sum);
  forest.bcast_begin(real, my_roots.data(), my_second.data(), Operation::max);
  forest.bcast_end(real, my_roots.data(), my_second.data(), Operation::max);
  forest.bcast_end(real, my_roots.data(), my_first.data());
  forest.reduce_end(pair, my_counted.data(), my_counts.data(), Operation::sum);
  model_bcast(graph, 1, roots, first, Operation::replace);
  model_bcast(graph, 1, roots, second, Operation::max);
  model_reduce(graph, 2, counted, counts, Operation::sum);
  expect::is_true(my_first.read() == first[rank], "the first broadcast");
  expect::is_true(my_second.read() == second[rank], "the second broadcast");
  expect::is_true(my_counts.read() == counts[rank], "the reduction");
}

void forest_agrees_with_the_model(const Communicator& comm, const SpaceMaker& make_space,
                                  const Graph& graph, Random& random) {
  Machine machine(make_space);
  auto& space = *machine.space;
  const auto forest = build(comm, machine, graph);
  operations_agree<double>(comm, space, graph, *forest, 1, random);
  operations_agree<float>(comm, space, graph, *forest, 1, random);
  operations_agree<std::int32_t>(comm, space, graph, *forest, 3, random);
  several_are_in_flight(comm, space, graph, *forest, random);
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

/// Values that are not a run are packed and unpacked by every operation.
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
        [&] { const StarForest forest(comm, *machine.space, 10, edges, leaves); }, part);
  };
  const auto me = std::to_string(last);
  refused({{0, 3}, {0, 10}}, {4, 7},
          "leaf 7 of rank " + me + ": its root is index 10 of rank 0, which has 0 to 9");
  refused({{last, -1}}, {}, "leaf 0 of rank " + me + ": its root is index -1 of rank " + me);
  refused({{comm.size(), 0}}, {2},
          "leaf 2 of rank " + me + ": its root is on rank " + std::to_string(comm.size()));
  refused({{0, 0}, {0, 1}, {0, 2}}, {5, 2, 5}, "leaf 5 of rank " + me + " is given twice");
  refused({{0, 0}, {0, 1}, {0, 2}}, {2, 5, 5}, "leaf 5 of rank " + me + " is given twice");
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
void parts_make_the_whole(const Communicator& comm, const SpaceMaker& make_space) {
  Machine machine(make_space);
  const auto forest = build(comm, machine, regular_graph(comm.size(), false));
  const auto unit = Unit::of<double>();
  const Placed roots(*machine.space, std::vector<double>(200, 2.0));
  Placed leaves(*machine.space, std::vector<double>(240, -1.0));
  forest->bcast_begin(unit, roots.data(), leaves.data());
  forest->bcast_end(unit, roots.data(), leaves.data());
  const auto expected = leaves.read();
  leaves.write(std::vector<double>(240, -1.0));
  if (auto* space = machine.space->on_device()) space->device().synchronise();  // parts do not
  using enum StarForest::Part;
  for (const auto part : {begin, pack, copy_out, messages, scatter, copy_in, unpack}) {
    forest->run_bcast_part(part, unit, roots.data(), leaves.data());
    machine.space->synchronise();
  }
  expect::is_true(leaves.read() == expected, "the parts leave something else");
}

/// A plane of 3 x 4 values on each rank has two of its columns shown on the next rank, and a row on
/// the one before.
std::vector<Bond> bonds_of(const Communicator& comm) {
  const IndexSet columns{8, {{1, {2, 4, 1}, {3, 0}}}, {}};
  const IndexSet row = IndexSet::run(3, 3);
  const IndexSet shown_columns{8, {{20, {2, 4, 1}, {5, 0}}}, {}};
  const IndexSet shown_row = IndexSet::run(12, 3);
  std::vector<Bond> bonds;
  if (comm.rank() > 0) bonds.push_back({comm.rank() - 1, shown_columns, columns});
  if (comm.rank() + 1 < comm.size()) bonds.push_back({comm.rank() + 1, shown_row, row});
  return bonds;
}

void bonds_are_edges(const Communicator& comm, const SpaceMaker& make_space) {
  Machine machine(make_space);
  const auto bonds = bonds_of(comm);
  std::vector<Root> edges;
  std::vector<std::int64_t> leaves;
  for (const auto& [rank, here, there] : bonds) {
    here.for_each([&](std::int64_t leaf) { leaves.push_back(leaf); });
    there.for_each([&](std::int64_t root) { edges.push_back({rank, root}); });
  }
  StarForest by_bonds(comm, *machine.space, 12, bonds);
  StarForest by_edges(comm, *machine.space, 12, edges, leaves);
  std::vector<double> values(40);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(100 * comm.rank()) + static_cast<double>(i);
  }
  const auto unit = Unit::of<double>();
  std::vector<std::vector<double>> found;
  for (auto* forest : {&by_bonds, &by_edges}) {
    const Placed roots(*machine.space, values);
    const Placed array(*machine.space, values);
    forest->bcast_begin(unit, roots.data(), array.data());
    forest->bcast_end(unit, roots.data(), array.data());
    forest->reduce_begin(unit, array.data(), roots.data(), Operation::sum);
    forest->reduce_end(unit, array.data(), roots.data(), Operation::sum);
    found.push_back(array.read());
    found.push_back(roots.read());
  }
  expect::is_true(found[0] == found[2], "leaves of bonds are those of edges");
  expect::is_true(found[1] == found[3], "roots of bonds are those of edges");
  if (comm.rank() > 0) expect::equal(found[0][26], 100.0 * (comm.rank() - 1) + 5);
  expect::equal(by_bonds.bcast_sent().units, by_edges.bcast_sent().units);
}

void bad_bonds_are_refused_everywhere(const Communicator& comm) {
  const int last = comm.size() - 1;
  const auto refused = [&](const Bond& bond, const std::string& part) {
    Machine machine;
    std::vector<Bond> bonds;
    if (comm.rank() == last) bonds.push_back(bond);
    expect::throws<UsageError>([&] { const StarForest forest(comm, *machine.space, 10, bonds); },
                               part);
  };
  const auto name = "bond of rank " + std::to_string(last) + " with rank ";
  const auto one = IndexSet::run(4, 1);
  refused({last, one, one}, name + std::to_string(last) + ": there are ranks 0 to");
  refused({last + 1, one, one}, "and a bond is with another one");
  if (last == 0) return;
  refused({0, one, IndexSet::run(0, 2)}, name + "0: 1 leaves have 2 roots");
  refused({0, one, IndexSet::run(10, 1)},
          "a root of rank 0 that others use does not exist: it has 10");
}

/// Two broadcasts from rank 0 to the last one, which begins them when both messages are there: the
/// second must not arrive before the first is unpacked.
void messages_wait_for_those_before(const Communicator& comm) {
  if (comm.size() == 1) return;
  const bool receives = comm.rank() == comm.size() - 1;
  const auto sum_of_two = [&](const SpaceMaker& make_space) {
    Machine machine(make_space);
    const std::vector<Root> edges(receives ? 1 : 0);  // of the first root of rank 0
    StarForest forest(comm, *machine.space, comm.rank() == 0 ? 1 : 0, edges);
    const auto unit = Unit::of<double>();
    const Placed first(*machine.space, std::vector<double>(1, 1.0));
    const Placed second(*machine.space, std::vector<double>(1, 20.0));
    const Placed leaf(*machine.space, std::vector<double>(1, 300.0));
    const auto add = [&](const Placed<double>& root) {
      forest.bcast_begin(unit, root.data(), leaf.data(), Operation::sum);
      forest.bcast_end(unit, root.data(), leaf.data(), Operation::sum);
    };
    add(first), add(first);                              // which all ranks compare
    machine.space->on_device()->device().synchronise();  // only messages are in question
    if (receives) comm.barrier();
    add(first), add(second);
    if (!receives) comm.barrier();
    return leaf.read()[0];
  };
  for (const bool staged : {false, true}) {
    const DeviceSpace::Setting setting{Ordering::default_stream, staged};
    const double right = receives ? 323.0 : 300.0;
    expect::equal(sum_of_two(maker_of(setting)), right);
    const bool good = sum_of_two(maker_of(setting, Wait::before_messages)) == right;
    expect::is_true(good != receives, "a message arrived in time without a wait");
  }
}

/// Counts the events that it makes, and the waits for a stream.
class CountingDevice : public EmulatedDevice {
 public:
  CountingDevice() : EmulatedDevice(Lag::until_waited) {}

  using EmulatedDevice::synchronise;
  void synchronise(Stream stream) override {
    ++waits;
    EmulatedDevice::synchronise(stream);
  }

  Event new_event() override {
    ++events;
    return EmulatedDevice::new_event();
  }

  int events = 0;
  std::int64_t waits = 0;
};

/// A rank whose edges stay on it has no messages to wait for.
void an_operation_waits_as_often_as_its_forest_says(const Communicator& comm) {
  for (const int step : {0, 1}) {
    CountingDevice* device = nullptr;
    Machine machine([&](Meter& meter, Memory& memory) {
      auto made = std::make_unique<CountingDevice>();
      device = made.get();
      const DeviceSpace::Setting setting{Ordering::default_stream, false};
      return std::make_unique<DeviceSpace>(meter, memory, std::move(made), setting);
    });
    const auto unit = Unit::of<double>();
    const Placed roots(*machine.space, std::vector<double>(8, 2.0));
    const Placed leaves(*machine.space, std::vector<double>(8, -1.0));
    std::vector<Root> edges(8);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      edges[i] = {(comm.rank() + step) % comm.size(), static_cast<std::int64_t>(i)};
    }
    StarForest forest(comm, *machine.space, 8, edges);
    device->waits = 0;
    forest.bcast_begin(unit, roots.data(), leaves.data());
    forest.bcast_end(unit, roots.data(), leaves.data());
    expect::equal(device->waits, forest.bcast_waits());
    expect::equal(device->waits, std::int64_t{step % comm.size() == 0 ? 0 : 1});
    expect::equal(leaves.read()[7], 2.0);
  }
}

/// However many arrays it serves; what waits for no event has none.
void a_forest_keeps_no_event_for_an_array_that_is_gone(const Communicator& comm) {
  for (const bool late : {true, false}) {
    CountingDevice* device = nullptr;
    Machine machine([&](Meter& meter, Memory& memory) {
      auto made = std::make_unique<CountingDevice>();
      device = made.get();
      const DeviceSpace::Setting setting{Ordering::default_stream, false, late};
      return std::make_unique<DeviceSpace>(meter, memory, std::move(made), setting);
    });
    const auto unit = Unit::of<double>();
    const Placed roots(*machine.space, std::vector<double>(200, 2.0));
    const Placed leaves(*machine.space, std::vector<double>(240, -1.0));
    for (int times = 0; times < 10; ++times) {
      const auto forest = build(comm, machine, regular_graph(comm.size(), true));
      forest->bcast_begin(unit, roots.data(), leaves.data());
      forest->bcast_end(unit, roots.data(), leaves.data());
    }
    expect::equal(device->events, late ? 1 : 0);
  }
}

/// Messages of a stream have no tags: different operations are refused before it is given them.
void streams_are_given_what_all_began(const Communicator& comm) {
  if (comm.size() == 1) return;
  Machine machine(maker_by_stream(comm, {Ordering::default_stream}));
  const auto forest = build(comm, machine, regular_graph(comm.size(), false));
  const Placed roots(*machine.space, std::vector<double>(200, 2.0));
  const Placed leaves(*machine.space, std::vector<double>(240, -1.0));
  const bool last = comm.rank() == comm.size() - 1;
  const auto unit = last ? Unit::of<float>() : Unit::of<double>();
  expect::throws<std::logic_error>([&] { forest->bcast_begin(unit, roots.data(), leaves.data()); },
                                   "bcast of 1 float with replace");
  const DeviceSpace::Setting staged{Ordering::default_stream, true};
  expect::throws<std::logic_error>([&] { Machine never(maker_by_stream(comm, staged)); },
                                   "cannot be staged or late");
}

/// An array of the host's is refused by name, unless the caller has said whose it is.
void a_device_takes_its_own_arrays_alone(const Communicator& comm) {
  std::vector<double> roots(200, 2.0);
  Machine machine(maker_of({Ordering::default_stream, false}));
  const auto forest = build(comm, machine, regular_graph(comm.size(), false));
  const Placed leaves(*machine.space, std::vector<double>(240, -1.0));
  expect::throws<std::logic_error>(
      [&] { forest->bcast_begin(Unit::of<double>(), roots.data(), leaves.data()); },
      "an array is not in device memory");
  expect::throws<std::logic_error>([&] { Machine never(maker_of({Ordering::typed, true})); },
                                   "without a wait");
}

}  // namespace

int main(int argc, char** argv) {
  const EnvironmentOfThreads environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  Random random(20);
  for (const auto& make_space : all_makers(comm)) {
    const int rounds = Machine(make_space).space->on_device() == nullptr ? 24 : 6;
    for (int round = 0; round < rounds; ++round) {
      forest_agrees_with_the_model(comm, make_space, random_graph(comm.size(), random), random);
    }
    for (const bool rows : {true, false}) {
      forest_agrees_with_the_model(comm, make_space, regular_graph(comm.size(), rows), random);
    }
    forest_agrees_with_the_model(comm, make_space, planes_graph(comm.size()), random);
    parts_make_the_whole(comm, make_space);
    bonds_are_edges(comm, make_space);
  }
  runs_need_no_buffers(comm);
  boxes_pass_through_buffers(comm);
  many_buffers_take_turns(comm);
  bad_forests_are_refused_everywhere(comm);
  bad_bonds_are_refused_everywhere(comm);
  what_was_not_begun_is_not_ended(comm);
  ranks_agree_on_what_they_begin(comm);
  a_message_says_what_it_carries(comm);
  if (!simulated()) {
    messages_wait_for_those_before(comm);
    a_forest_keeps_no_event_for_an_array_that_is_gone(comm);
    an_operation_waits_as_often_as_its_forest_says(comm);
    a_device_takes_its_own_arrays_alone(comm);
    streams_are_given_what_all_began(comm);
  }
  return expect::exit_code();
}

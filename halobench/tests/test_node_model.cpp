// The node model: flops, caches and their shares, memory and its sharing; its file.
#include "expect.hpp"
#include "machine/node_model.hpp"
#include "params.hpp"

using halobench::NodeModel;
using halobench::Traffic;
using halobench::UsageError;

namespace {

constexpr const char* machine =
    "# a node of eight cores\n"
    "\n"
    "cache 8e6 4 2e10\n"
    "cache 1e6 1 5e10\n"
    "core_flops_per_s 1e9\n"
    "core_bandwidth_bytes_per_s 1e10\n"
    "node_bandwidth_bytes_per_s 4e10\n";

NodeModel read(const std::string& text) { return NodeModel::read(expect::File(text).path()); }

/// Bytes per second that one rank gets.
double bandwidth(double working_set_bytes, int ranks, int threads) {
  return 1e12 / read(machine).seconds({1e12, 0, working_set_bytes}, ranks, threads);
}

void flops_bound_what_has_few_bytes() {
  const auto model = read(machine);
  expect::near(model.seconds({0, 3e9, 0}, 1, 1), 3);
  expect::near(model.seconds({0, 3e9, 0}, 8, 2), 1.5);
  expect::near(model.seconds({1e10, 5e8, 1e9}, 1, 1), 1);
  expect::near(model.seconds({1e10, 2e9, 1e9}, 1, 1), 2);
}

void memory_is_shared_by_the_ranks() {
  expect::near(bandwidth(1e9, 1, 1), 1e10);
  expect::near(bandwidth(1e9, 4, 1), 1e10);
  expect::near(bandwidth(1e9, 8, 1), 0.5e10);
  expect::near(bandwidth(1e9, 1, 4), 4e10);
  expect::near(bandwidth(1e9, 2, 4), 2e10);
}

void the_smallest_cache_that_holds_the_working_set_counts() {
  expect::near(bandwidth(1e6, 1, 1), 5e10);
  expect::near(bandwidth(1.01e6, 1, 1), 2e10);
  expect::near(bandwidth(8e6, 1, 1), 2e10);
  expect::near(bandwidth(8.01e6, 1, 1), 1e10);
}

void a_cache_is_shared_by_the_cores_in_use() {
  expect::near(bandwidth(4e6, 2, 1), 2e10);
  expect::near(bandwidth(4.01e6, 2, 1), 1e10);
  expect::near(bandwidth(2e6, 8, 1), 2e10);  // four of the eight share one instance
  expect::near(bandwidth(1e6, 8, 1), 5e10);  // this level is each core's own
}

void threads_split_the_working_set() {
  expect::near(bandwidth(2e6, 1, 2), 2 * 5e10);
  expect::near(bandwidth(2.01e6, 1, 2), 2 * 2e10);
  expect::near(bandwidth(8e6, 1, 4), 4 * 2e10);
  expect::near(bandwidth(8.1e6, 1, 4), 4e10);
}

void a_bad_file_is_refused() {
  const auto says = [](const std::string& text, const std::string& part) {
    expect::throws<UsageError>([&] { read(text); }, part);
  };
  expect::throws<UsageError>([] { NodeModel::read("/nowhere/at/all"); },
                             "--machine /nowhere/at/all: can't be read");
  says("speed 3\n", ":1: speed: no such key; known: core_flops_per_s,");
  says("\ncore_flops_per_s 0\n", ":2: core_flops_per_s: give a number above 0");
  says("core_flops_per_s\n", ":1: core_flops_per_s: give a number above 0");
  says("core_flops_per_s fast\n", "give a number above 0");
  says("core_flops_per_s 1e9 2e9\n", ":1: core_flops_per_s: '2e9' is too much");
  says("core_flops_per_s 1e9Hz\n", ":1: core_flops_per_s: 'Hz' is too much");
  says("cache 1e6 1\n", ":1: cache: give a number above 0");
  says("core_flops_per_s 1e9\ncore_bandwidth_bytes_per_s 1e10\n",
       "node_bandwidth_bytes_per_s are all needed");
}

}  // namespace

int main() {
  flops_bound_what_has_few_bytes();
  memory_is_shared_by_the_ranks();
  the_smallest_cache_that_holds_the_working_set_counts();
  a_cache_is_shared_by_the_cores_in_use();
  threads_split_the_working_set();
  a_bad_file_is_refused();
  return expect::exit_code();
}

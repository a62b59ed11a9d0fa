// SPDX-License-Identifier: BSD-3-Clause
// The node model: flops, caches and their shares, memory and its sharing; its file.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "base/usage_error.hpp"
#include "expect.hpp"
#include "machine/node_model.hpp"

using halobench::NodeModel;
using halobench::UsageError;

namespace {

constexpr const char* machine =
    "# two sockets of four cores\n"
    "\n"
    "cache 8e6 4 2e10 2e10\n"
    "cache 1e6 1 5e10 5e10\n"
    "core_flops_per_s 1e9 1e9\n"
    "cores 8 2\n"
    "memory 8 4e10\n"
    "memory 1 1e10\n"
    "memory 4 3.4e10\n";

constexpr double huge = 1e30;  // next to nothing of it is in a cache

NodeModel read(const std::string& text) { return NodeModel::read(expect::File(text).path()); }

/// Bytes per second that one rank gets.
double bandwidth(double working_set_bytes, int ranks, int threads) {
  return 1e12 / read(machine).seconds({1e12, 0, working_set_bytes}, ranks, threads);
}

/// The same for a working set of which a share is in one level and the rest in the next.
double mixed(double share, double first, double second) {
  return 1 / (share / first + (1 - share) / second);
}

using expect::near;

void flops_bound_what_has_few_bytes() {
  const auto model = read(machine);
  near(model.seconds({0, 3e9, 0}, 1, 1), 3);
  near(model.seconds({0, 3e9, 0}, 4, 2), 1.5);
  near(model.seconds({1e10, 5e8, huge}, 1, 1), 1);
  near(model.seconds({1e10, 2e9, huge}, 1, 1), 2);
}

void memory_is_shared_by_the_cores_in_use() {
  near(bandwidth(huge, 1, 1), 1e10);
  near(bandwidth(huge, 2, 1), 1.8e10 / 2);  // between 1 and 4 cores
  near(bandwidth(huge, 4, 1), 3.4e10 / 4);
  near(bandwidth(huge, 8, 1), 4e10 / 8);
  near(bandwidth(huge, 1, 4), 3.4e10);
  near(bandwidth(huge, 2, 4), 4e10 / 2);
  near(bandwidth(huge, 16, 1), 4e10 / 16);  // no more cores, no more bandwidth
}

void packed_threads_fill_one_socket_before_the_next() {
  const auto packed = read(std::string(machine) + "packed\n");
  const auto bytes_per_s = [&](int ranks, int threads) {
    return 1e12 / packed.seconds({1e12, 0, huge}, ranks, threads);
  };
  near(bytes_per_s(1, 4), 4e10 / 2);       // one socket's memory
  near(bytes_per_s(1, 6), 0.75 * 3.7e10);  // four of six threads on the first: 6 / 8
  near(bytes_per_s(1, 8), 4e10);
  near(bytes_per_s(2, 6), 4e10 / 2);    // each has a socket of its own, and crowds it
  near(bandwidth(huge, 1, 6), 3.7e10);  // spread: three on each
  for (int threads = 1; threads < 8; ++threads) {
    expect::is_true(bytes_per_s(1, threads + 1) > 0.99 * bytes_per_s(1, threads), "one more");
    expect::is_true(bandwidth(huge, 1, threads + 1) > bandwidth(huge, 1, threads), "one more");
  }
}

/// One socket's memory has twice what half of the node's gives, to be told apart.
void ranks_have_the_memory_of_their_own_socket() {
  const std::string sockets = "socket 1 1.2e10\nsocket 2 2e10\nsocket 4 3e10\n";
  const auto bytes_per_s = [&](const std::string& more, int ranks, int threads,
                               std::optional<int> on_socket) {
    const auto model = read(machine + sockets + more);
    return 1e12 / model.cost({1e12, 0, huge}, ranks, threads, on_socket).seconds;
  };
  near(bytes_per_s("", 3, 1, 1), 1.2e10);
  near(bytes_per_s("", 3, 1, 2), 2e10 / 2);
  near(bytes_per_s("", 8, 1, 4), 3e10 / 4);
  near(bytes_per_s("", 2, 3, 1), 2.5e10);          // three threads of a rank: between 2 and 4
  near(bytes_per_s("packed\n", 5, 1, 1), 1.2e10);  // alone beside a full one
  near(bytes_per_s("packed\n", 5, 1, 4), 3e10 / 4);
  // Where nobody says who sits where, as on the fullest.
  near(bytes_per_s("", 3, 1, {}), 2e10 / 2);
  near(bytes_per_s("packed\n", 3, 1, {}), 2.5e10 / 3);
  near(bytes_per_s("packed\n", 5, 1, {}), 3e10 / 4);
  near(bytes_per_s("", 1, 8, {}), 2 * 3e10);            // one rank on both
  near(bytes_per_s("packed\n", 1, 6, {}), 1.5 * 3e10);  // the four on the first take longest
  near(bytes_per_s("", 16, 1, {}), 3e10 / 8);           // two hardware threads to a core
  near(bytes_per_s("packed\n", 16, 1, {}), 3e10 / 8);
  expect::equal(read(machine).cost({1e12, 0, huge}, 3, 1, 2).seconds,
                read(machine).cost({1e12, 0, huge}, 3, 1).seconds);
}

void caches_serve_what_they_hold_of_the_working_set() {
  near(bandwidth(1e6, 1, 1), 5e10);
  near(bandwidth(1.01e6, 1, 1), 2e10);  // swept over, the inner one has nothing left of it
  near(bandwidth(8e6, 1, 1), 2e10);
  near(bandwidth(16e6, 1, 1), mixed(0.5, 2e10, 1e10));
}

void the_sharpness_says_how_soon_the_last_cache_is_too_small() {
  const auto sharp = read(std::string(machine) + "sharpness 2\n");
  near(1e12 / sharp.seconds({1e12, 0, 16e6}, 1, 1), mixed(0.25, 2e10, 1e10));
  near(1e12 / sharp.seconds({1e12, 0, 8e6}, 1, 1), 2e10);
  near(1e12 / sharp.seconds({1e12, 0, 2e6}, 1, 1), 2e10);
  near(1e12 / sharp.seconds({1e12, 0, 1e6}, 1, 1), 5e10);
}

/// Half of what just fits is found with a knee of 1, all of it with a large one.
void with_a_knee_what_just_fits_the_last_cache_is_found_in_part() {
  const auto found = [](const std::string& law, double set) {  // by what a byte takes
    const double seconds = read(machine + law).seconds({1, 0, set}, 1, 1);
    return (1e-10 - seconds) / (1e-10 - 5e-11);  // memory 1e10, the last cache 2e10 bytes/s
  };
  near(found("knee 1\n", 8e6), 0.5);
  near(found("knee 2\n", 8e6), std::sqrt(0.5));
  near(found("knee 1\n", 4e6), 2.0 / 3);  // half as much as fits
  near(found("knee 2\nsharpness 3\n", 16e6), 1 / std::sqrt(65.0));
  near(found("knee 100\n", 2e6), 1);
  near(found("knee 100\n", 16e6), 0.5);
  near(1e12 / read(std::string(machine) + "knee 1\n").seconds({1e12, 0, 1e6}, 1, 1), 5e10);
}

/// A core has 1e6 bytes of its own level beside its share of the last one's 8e6.
void a_last_cache_that_repeats_nothing_has_the_level_below_beside_it() {
  const auto beside = read(std::string(machine) + "beside\n");
  const auto bytes_per_s = [&](double set, int ranks, int threads) {
    return 1e12 / beside.seconds({1e12, 0, set}, ranks, threads);
  };
  near(bytes_per_s(9e6, 1, 1), 2e10);
  near(bytes_per_s(18e6, 1, 1), mixed(0.5, 2e10, 1e10));
  near(bytes_per_s(6e6, 8, 1), mixed(0.5, 2e10, 4e10 / 8));      // 2e6 and 1e6 each
  near(bytes_per_s(24e6, 1, 8), 8 * mixed(1, 2e10, 4e10 / 8));   // of eight threads together
  near(bytes_per_s(3e6, 16, 1), mixed(0.5, 1e10, 4e10 / 16));    // two threads to each core
  near(bytes_per_s(4.8e6, 10, 1), mixed(0.5, 1e10, 4e10 / 10));  // 1.6e6 and 0.8e6 each
  near(bytes_per_s(1e6, 1, 1), 5e10);
}

void a_cache_is_shared_by_the_cores_in_use_on_its_socket() {
  near(bandwidth(8e6, 2, 1), 2e10);  // one on each socket
  near(bandwidth(8e6, 4, 1), mixed(0.5, 2e10, 3.4e10 / 4));
  near(bandwidth(8e6, 8, 1), mixed(0.25, 2e10, 4e10 / 8));
  near(bandwidth(1e6, 8, 1), 5e10);  // this level is each core's own
}

void threads_that_share_a_core_share_its_caches_too() {
  near(bandwidth(1e6, 16, 1), 0.5 * 2e10);
  near(bandwidth(0.5e6, 16, 1), 0.5 * 5e10);
  near(read(machine).seconds({0, 3e9, 0}, 16, 1), 6);
}

void a_core_among_many_has_a_lower_clock() {
  const auto model =
      read("core_flops_per_s 1e9 1e9\ncores 5 1\nmemory 1 1e10\ncache 1e9 5 4e10 2e10\n");
  near(1e12 / model.seconds({1e12, 0, 1e6}, 1, 1), 4e10);
  near(1e12 / model.seconds({1e12, 0, 1e6}, 3, 1), 3e10);
  near(1e12 / model.seconds({1e12, 0, 1e6}, 5, 1), 2e10);
}

void a_core_computes_slower_on_a_full_socket() {
  const auto model = read("core_flops_per_s 2e9 1e9\ncores 6 2\nmemory 1 1e10\n");
  const auto flops_per_s = [&](int ranks) { return 1e9 / model.seconds({0, 1e9, 0}, ranks, 1); };
  near(flops_per_s(1), 2e9);
  near(flops_per_s(2), 2e9);    // one on each socket
  near(flops_per_s(3), 1.5e9);  // two on one of them
  near(flops_per_s(6), 1e9);
}

void packed_ranks_fill_one_socket_before_the_next() {
  const auto packed = read(std::string(machine) + "packed\n");
  const auto bytes_per_s = [&](double set, int ranks) {
    return 1e12 / packed.seconds({1e12, 0, set}, ranks, 1);
  };
  near(bytes_per_s(huge, 1), 1e10);
  near(bytes_per_s(huge, 2), 3.4e10 / 4);  // as with two more on the other socket
  near(bytes_per_s(huge, 4), 4e10 / 8);
  near(bytes_per_s(huge, 6), 4e10 / 8);  // the first socket is full, and slowest
  near(bytes_per_s(huge, 8), 4e10 / 8);
  near(bytes_per_s(4e6, 4), mixed(0.5, 2e10, 4e10 / 8));  // four share one socket's cache
  const std::string pairs =
      "core_flops_per_s 1e9 1e9\ncores 8 2\nmemory 1 1e9\n"
      "cache 2e6 2 1e10 1e10\n";
  const auto shared = [](const std::string& text) {
    return 1e12 / read(text).seconds({1e12, 0, 2e6}, 2, 1);
  };
  near(shared(pairs), 1e10);                                    // on two sockets
  near(shared(pairs + "packed\n"), mixed(0.5, 1e10, 1e9 / 4));  // side by side
  near(read("core_flops_per_s 2e9 1e9\ncores 6 2\nmemory 1 1e10\npacked\n")
           .seconds({0, 1e9, 0}, 3, 1),
       1);
}

void hardware_threads_together_do_more_than_one() {
  const auto model = read(std::string(machine) + "smt_gain 1.5\n");
  const auto share = [&](int ranks) { return 1 / model.seconds({0, 1e9, 0}, ranks, 1); };
  near(share(8), 1);
  near(share(9), 0.75);  // two of them share a core, the others wait
  near(share(16), 0.75);
  near(1 / read(machine).seconds({0, 1e9, 0}, 9, 1), 0.5);
}

/// With `packed 2`, threads of a core are filled before the next core, and cores before a socket.
void hardware_threads_that_are_packed_share_a_core_while_others_are_free() {
  const auto model = read(std::string(machine) + "smt_gain 1.5\npacked 2\n");
  const auto share = [&](int ranks) { return 1 / model.seconds({0, 1e9, 0}, ranks, 1); };
  near(share(1), 1);
  near(share(2), 0.75);  // on one core
  near(share(3), 0.75);  // two of them wait for nobody, and all for them
  near(share(8), 0.75);  // on the four cores of the first socket
  near(share(16), 0.75);
  const auto bytes_per_s = [&](double set, int ranks, int threads) {
    return 1e12 / model.seconds({1e12, 0, set}, ranks, threads);
  };
  near(bytes_per_s(huge, 2, 1), 1.8e10 / 4);  // the memory of one core on each socket
  near(bytes_per_s(huge, 8, 1), 4e10 / 16);   // half of the node's
  near(bytes_per_s(huge, 1, 8), 4e10 / 2);
  near(bytes_per_s(huge, 1, 12),
       0.75 * 3.7e10);                        // six cores; eight of its twelve on the first socket
  near(bytes_per_s(1e6, 2, 1), 0.75 * 2e10);  // one core's own cache for two
  near(bytes_per_s(0.5e6, 2, 1), 0.75 * 5e10);
  const auto clocked =
      read("core_flops_per_s 2e9 1e9\ncores 6 2\nmemory 1 1e10\nsmt_gain 2\npacked 2\n");
  near(1e9 / clocked.seconds({0, 1e9, 0}, 2, 1), 2e9);  // one core of three at work
  near(1e9 / clocked.seconds({0, 1e9, 0}, 6, 1), 1e9);
}

void threads_split_the_working_set() {
  near(bandwidth(2e6, 1, 2), 2 * 5e10);
  near(bandwidth(8e6, 1, 4), 4 * 2e10);
}

void phases_that_store_more_than_stream_take_less_where_storing_costs_less() {
  const auto seconds = [](const std::string& more, double stored, double set) {
    return read(machine + more).seconds({1e12, 0, set, stored * 1e12}, 2, 1);
  };
  const std::string cheap = "stores 1 0.2\nstores 4 0.4\nstores 8 1\n";
  const double cost = 0.2 + 0.2 / 3;  // on two cores, between one and four
  const auto weight = [&](double stored) {
    return (1 + (cost - 1) * stored) / (1 + (cost - 1) * 0.5);
  };
  const double usual = seconds("", 0.5, huge);
  expect::equal(seconds("", 0, huge), usual);
  near(seconds(cheap, 0.5, huge), usual);
  near(seconds(cheap, 0.25, huge), weight(0.25) * usual);
  near(seconds(cheap, 0, huge), weight(0) * usual);
  expect::equal(seconds(cheap, 0.5, 1e5), seconds("", 0.5, 1e5));  // caches are as they were
  near(read(machine + cheap).seconds({1e12, 0, huge, 5e11}, 8, 1),
       read(machine).seconds({1e12, 0, huge}, 8, 1));  // all cores: a byte is a byte
}

void a_phase_of_several_threads_begins_and_ends_a_parallel_region() {
  const std::string regions = "region 2 1e-6\nregion 4 5e-6\n";
  const auto more = [&](int threads) {
    const auto seconds = [&](const std::string& text) {
      return read(text).seconds({1e6, 0, huge}, 1, threads);
    };
    return seconds(machine + regions) - seconds(machine);
  };
  expect::equal(more(1), 0.0);
  near(more(2) * 1e6, 1.0);
  near(more(3) * 1e6, 3.0);
  near(more(4) * 1e6, 5.0);
  near(more(8) * 1e6, 5.0);
  near(read(machine + regions).seconds({0, 0, 0, 0, 100}, 1, 4) * 1e6, 500.0);
}

void a_file_says_how_far_nodes_lie_apart() {
  const auto of = [](const std::string& line) { return read(machine + line).spread(); };
  expect::equal(of("").nodes, 0.0);
  expect::equal(of("spread 0.02 0.01 18446744073709551615\n").nodes, 0.02);
  expect::equal(of("spread 0.02 0.01 18446744073709551615\n").phases, 0.01);
  expect::is_true(of("spread 0 0.01 18446744073709551615\n").seed == ~std::uint64_t{0}, "the seed");
  expect::equal(of("").slowest, 1.0);
  expect::equal(of("slowest 1.02\n").slowest, 1.02);
  expect::equal(read(machine).resume_s(), 0.0);
  expect::equal(read(std::string(machine) + "resume 1e-4\n").resume_s(), 1e-4);
}

void a_bad_file_is_refused() {
  const auto says = [](const std::string& text, const std::string& part) {
    expect::throws<UsageError>([&] { read(text); }, part);
  };
  expect::throws<UsageError>([] { NodeModel::read("/nowhere/at/all"); },
                             "--machine /nowhere/at/all: cannot read this file");
  says("speed 3\n", ":1: speed: no such key; known: core_flops_per_s, cores,");
  says("core_flops_per_s 1e9\n", ":1: core_flops_per_s: give a number above 0");
  says("\ncore_flops_per_s 0\n", ":2: core_flops_per_s: give a number above 0");
  says("core_flops_per_s\n", ":1: core_flops_per_s: give a number above 0");
  says("core_flops_per_s fast\n", "give a number above 0");
  says("core_flops_per_s 1e9 1e9 2e9\n", ":1: core_flops_per_s: unexpected '2e9'");
  says("core_flops_per_s 1e9 1e9Hz\n", ":1: core_flops_per_s: unexpected 'Hz'");
  says("packed 1 2\n", ":1: packed: unexpected '2'");
  says("spread 0.1 0.1\n", ":1: spread: give two numbers from 0, and a seed");
  says("spread -0.1 0 1\n", ":1: spread: give two numbers from 0, and a seed");
  says("spread 0.1 0 1 2\n", ":1: spread: unexpected '2'");
  says("cache 1e6 1\n", ":1: cache: give a number above 0");
  says("cores 8\n", ":1: cores: give a number above 0");
  says("socket 8\n", ":1: socket: give a number above 0");
  says("core_flops_per_s 1e9 1e9\ncores 8 2\n",
       "core_flops_per_s, cores and memory are all needed");
}

}  // namespace

int main() {
  flops_bound_what_has_few_bytes();
  memory_is_shared_by_the_cores_in_use();
  packed_threads_fill_one_socket_before_the_next();
  ranks_have_the_memory_of_their_own_socket();
  caches_serve_what_they_hold_of_the_working_set();
  the_sharpness_says_how_soon_the_last_cache_is_too_small();
  with_a_knee_what_just_fits_the_last_cache_is_found_in_part();
  a_last_cache_that_repeats_nothing_has_the_level_below_beside_it();
  a_cache_is_shared_by_the_cores_in_use_on_its_socket();
  threads_that_share_a_core_share_its_caches_too();
  a_core_among_many_has_a_lower_clock();
  a_core_computes_slower_on_a_full_socket();
  packed_ranks_fill_one_socket_before_the_next();
  hardware_threads_together_do_more_than_one();
  hardware_threads_that_are_packed_share_a_core_while_others_are_free();
  threads_split_the_working_set();
  phases_that_store_more_than_stream_take_less_where_storing_costs_less();
  a_phase_of_several_threads_begins_and_ends_a_parallel_region();
  a_file_says_how_far_nodes_lie_apart();
  a_bad_file_is_refused();
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
// What the network's kernels refuse before anything is launched, and the memory they foresee.
#include <vector>

#include "command.hpp"
#include "expect.hpp"
#include "machine/cache.hpp"

using halobench::Params;
using halobench::Plan;
using halobench::Problem;

namespace {

Plan plan(const std::string& name, std::int64_t ranks, const std::vector<std::string>& arguments) {
  const auto kernel = halobench::find_kernel(name);
  std::vector<Problem> problems;
  const Params params(kernel.all_parameters(), arguments, problems);
  return problems.empty() ? kernel.plan_for(params, {ranks, 1}) : Plan{0, problems};
}

/// The plan has this one problem.
void refuses(const std::string& name, std::int64_t ranks, const std::string& argument,
             const std::string& message,
             std::source_location where = std::source_location::current()) {
  const auto planned = plan(name, ranks, {argument});
  expect::equal(planned.problems.size(), 1U, where);
  if (planned.problems.empty()) return;
  expect::contains(planned.problems[0].message, message, where);
}

void pingpong_needs_its_pairs() {
  refuses("pingpong", 1, "pairs=0-1", "needs at least 2 ranks");
  refuses("pingpong", 2, "pairs=0-2", "no rank 2 among 2");
  refuses("pingpong", 3, "pairs=halves", "3 ranks: an odd number cannot be paired");
  refuses("pingpong", 2, "sizes=2147483648", "give sizes from 0 to 2147483647 bytes");
  refuses("pingpong", 2, "sizes=9223372036854775808", "give sizes from 0");
  refuses("pingpong", 2, "window=0", "give an integer from 1 to 65536");
}

/// Other problems are reported for the fewest ranks.
void too_few_ranks_are_one_problem_of_all() {
  const auto planned = plan("sf_pingpong", 1, {"sizes=8,12"});
  expect::equal(planned.problems.size(), 2U);
  expect::contains(planned.problems[0].message, "needs at least 2 ranks");
  expect::contains(planned.problems[1].message, "give multiples of 8");
  expect::equal(plan("sf_pingpong", 1, {}).problems.size(), 1U);
}

void loggp_needs_a_pair_and_a_burst() {
  refuses("loggp", 1, "burst=16", "needs at least 2 ranks");
  refuses("loggp", 2, "burst=1", "give an integer from 2 to 4096");
  refuses("loggp", 2, "sizes=0", "give sizes from 1");
  expect::equal(plan("loggp", 2, {"sizes=8,64K"}).memory_bytes, 4.0 * 65536);
}

void pingpong_foresees_its_memory() {
  expect::equal(plan("pingpong", 4, {"sizes=0,1024"}).memory_bytes, 4 * (1024 + 64.0));
  expect::equal(plan("pingpong", 4, {"sizes=64", "pairs=halves"}).memory_bytes, 8 * (64 + 64.0));
  const std::string stream = "mode=stream";
  expect::equal(plan("pingpong", 2, {stream, "sizes=64", "window=10"}).memory_bytes, 11 * 128.0);
  expect::equal(plan("pingpong", 2, {"mode=bistream", "sizes=64", "window=10"}).memory_bytes,
                22 * 128.0);
  expect::equal(plan("pingpong", 2, {stream, "sizes=256M"}).memory_bytes, 3 * ((256 << 20) + 64.0));
  const auto cache = static_cast<double>(halobench::last_cache_bytes());
  if (cache == 0) return;
  const double off = plan("pingpong", 2, {"cache=off", "sizes=64"}).memory_bytes;
  expect::is_true(off > 7.9 * cache && off <= 8 * cache, "two caches each way and rank");
}

void sum3d_needs_a_topology_of_its_ranks() {
  refuses("sum3d", 16, "topology=4x3x2",
          "24 ranks requested, but there are 16; give numbers with the product 16, or 1d, 2d, 3d");
  refuses("sum3d", 16, "topology=4000000000x4000000000x4000000000", "more than 2^63 ranks");
  refuses("sum3d", 4, "topology=round",
          "give 1d, 2d, 3d, or ranks along x, y, and z, such as 4x3x2");
  refuses("sum3d", 4, "size=10x0x1", "give elements along x, y, and z");
  refuses("sum3d", 4, "size=2048x1024x1024", "more than 2^31 - 1 elements");
  refuses("sum3d", 4, "size=4000000000x4000000000x4000000000", "more than 2^31 - 1 elements");
  expect::equal(plan("sum3d", 4, {"size=2047x1024x1024"}).problems.size(), 0U);
  expect::equal(plan("sum3d", 4, {"size=10", "topology=9"}).problems.size(), 1U);
  expect::equal(plan("sum3d", 4, {"size=x", "topology=9"}).problems.size(), 2U);
  expect::equal(plan("sum3d", 4, {"size=10x10x10"}).memory_bytes, 48000.0);
}

void a_topology_left_to_the_kernel_is_named() {
  const auto chosen = [](const std::string& kernel, std::int64_t ranks, const std::string& given) {
    return plan(kernel, ranks, {given}).choices["topology"];
  };
  expect::equal(chosen("sum3d", 8, "topology=1d"), "8x1x1");
  expect::equal(chosen("sum3d", 8, "topology=3d"), "2x2x2");
  expect::equal(chosen("sum3d", 2, "topology=2d"), chosen("sum3d", 2, "topology=1d"));
  // As many bytes as with 2x2x2 in a periodic mesh; of equals, x is cut most.
  expect::equal(chosen("jacobi3d", 8, "size=400x400x400"), "4x2x1");
}

void star_forests_that_add_have_buffers_for_every_size() {
  const double largest = 64;
  expect::equal(plan("sf_unpack", 2, {"sizes=8,64"}).memory_bytes, 2 * largest + 2 * (8 + 64));
  expect::equal(plan("sf_pingpong", 2, {"sizes=8,64"}).memory_bytes, 4 * largest);
}

void an_exchange_that_cannot_overlap_says_so() {
  const auto overlap = [](const std::string& exchange) {
    return plan("jacobi3d", 2, {"overlap=yes", "exchange=" + exchange}).choices["overlap"];
  };
  expect::equal(overlap("blocking"), "no");
  expect::equal(overlap("sendrecv"), "no");
  expect::equal(overlap("persistent"), "");  // as given
}

void collectives_add_whole_doubles() {
  refuses("collectives", 2, "sizes=8,12", "reduce adds values of 8 bytes; give multiples of 8");
  refuses("collectives", 2, "sizes=0", "give sizes from 1");
  expect::equal(plan("collectives", 2, {"sizes=12", "operation=bcast"}).problems.size(), 0U);
  expect::equal(plan("collectives", 5, {"sizes=8", "operation=alltoall"}).memory_bytes,
                5 * 2 * 5 * 8.0);
  expect::equal(plan("collectives", 5, {"operation=barrier"}).memory_bytes, 0.0);
}

void every_kernel_can_start_at_a_common_time() {
  for (const auto& kernel : halobench::kernels()) {
    const auto planned = plan(kernel.name, 2, {"synchronisation=round_time"});
    expect::equal(planned.problems.size(), 0U);
    refuses(kernel.name, 2, "synchronisation=window", "give one of barrier, round_time");
  }
}

}  // namespace

int main() {
  pingpong_needs_its_pairs();
  too_few_ranks_are_one_problem_of_all();
  loggp_needs_a_pair_and_a_burst();
  pingpong_foresees_its_memory();
  sum3d_needs_a_topology_of_its_ranks();
  a_topology_left_to_the_kernel_is_named();
  star_forests_that_add_have_buffers_for_every_size();
  an_exchange_that_cannot_overlap_says_so();
  collectives_add_whole_doubles();
  every_kernel_can_start_at_a_common_time();
  return expect::exit_code();
}

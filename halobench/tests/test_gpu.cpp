// SPDX-License-Identifier: BSD-3-Clause
// What is asked of a GPU's runtime, and how a GPU runs a loop, with a stand-in for CUDA's.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "device/at_once.hpp"
#include "device/gpu/gpu.hpp"
#include "device/gpu/gpu_launch.hpp"
#include "expect.hpp"

namespace {

using namespace halobench;
using Calls = std::vector<std::string>;

void expect_calls(const Calls& expected) {
  const auto found = stand_in::take_calls();
  std::string calls;
  for (const auto& call : found) calls += call + ", ";
  expect::is_true(found == expected, "found " + calls);
}

struct Count {
  unsigned char* times;

  void operator()(std::int64_t i) const { ++times[i]; }
};

/// Of i terms each, the k-th of which is 0.1 k; how often each was put.
struct Growing {
  double* sums;
  int* times;

  std::int64_t begin(std::int64_t i) const { return i * (i - 1) / 2; }
  std::int64_t end(std::int64_t i) const { return i * (i + 1) / 2; }
  double term(std::int64_t /*i*/, std::int64_t k) const { return 0.1 * static_cast<double>(k); }
  void put(std::int64_t i, double sum) const {
    sums[i] = sum;
    ++times[i];
  }
};

void a_loop_is_run_once_for_every_index() {
  stand_in::know(gpu::run_over<Count>);
  const std::int64_t more_than_all_threads = gpu::most_blocks * gpu::block_threads + 300;
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{255}, std::int64_t{256},
                                   std::int64_t{257}, more_than_all_threads}) {
    std::vector<unsigned char> times(static_cast<std::size_t>(count));
    gpu::launch_over(nullptr, count, Count{times.data()});
    bool once = true;
    for (const auto time : times) once &= time == 1;
    expect::is_true(once, std::to_string(count) + " indices");
    expect_calls({"LaunchKernel"});
  }
  gpu::launch_over(nullptr, 0, Count{nullptr});
  expect_calls({});
}

/// Also those of no terms, and where the threads take several sums one after the other; a sum is
/// the same to the last bit however many threads there are. mean: what the launch is given of its
/// sums.
template <int lanes>
void sums_are_those_of_their_terms_in_an_order_of_their_own(std::int64_t mean) {
  constexpr auto kernel = gpu::run_sums<lanes, Growing>;
  stand_in::know(kernel);
  stand_in::as_warps = true;
  constexpr std::int64_t count = 45;
  std::vector<double> sums(count), with_one_block(count);
  std::vector<int> times(count);
  gpu::launch_sums(nullptr, count, count * mean, Growing{sums.data(), times.data()});
  stand_in::run(dim3(1), dim3(2 * stand_in::warp),
                [&] { kernel(count, Growing{with_one_block.data(), times.data()}); });
  stand_in::as_warps = false;
  stand_in::runners.erase(reinterpret_cast<const void*>(kernel));  // no other launch is this one
  expect_calls({"LaunchKernel"});
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto terms = static_cast<double>(i);
    expect::near(sums[at], 0.1 * terms * (terms * terms - 1) / 2);
    expect::equal(with_one_block[at], sums[at]);
    expect::equal(times[at], 2);
  }
}

void a_launch_is_blamed_for_its_own_error_alone() {
  std::vector<unsigned char> times(1);
  stand_in::last = cudaErrorInvalidValue;  // of an MPI library that requested an address
  gpu::launch_over(nullptr, 1, Count{times.data()});
  expect::equal(int{times[0]}, 1);
  stand_in::failing["LaunchKernel"] = cudaErrorIllegalAddress;
  expect::throws<std::runtime_error>([&] { gpu::launch_over(nullptr, 1, Count{times.data()}); },
                                     "launching a device kernel: an illegal memory access");
  stand_in::failing.clear();
  stand_in::take_calls();
}

/// Another thread changes the value while this one computes what it is to become.
template <class Value>
void expect_both_changes() {
  Value there = 1;
  bool changed = false;
  join_at_once(there, Value{2}, [&](Value found, Value arrived) {
    if (!std::exchange(changed, true)) there += Value{4};
    return found + arrived;
  });
  expect::equal(there, Value{7});
}

void values_that_meet_are_all_joined() {
  expect_both_changes<double>();
  expect_both_changes<float>();
  expect_both_changes<std::int32_t>();
  double none = std::numeric_limits<double>::quiet_NaN();  // which is not equal to itself
  join_at_once(none, 1.0, std::plus<>());
  expect::is_true(std::isnan(none), "a sum with NaN is NaN");
}

/// A GPU's memory adds by itself what it can.
void sums_that_meet_are_added_by_the_memory() {
  double there = 1;
  add_at_once(there, 2.0);
  expect::equal(there, 3.0);
  expect_calls({"atomicAdd"});
}

void a_gpu_is_known_by_its_number_and_its_address() {
  const auto [uuid, pci] = gpu_identity(1);
  expect::equal(uuid, std::string("GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff"));
  expect::equal(pci, std::string("0000:3B:01.0"));
  expect::contains(Gpu(1).identity(), R"("pci":"0000:3B:01.0")");
  stand_in::take_calls();
}

void memory_of_the_host_is_read_and_written_when_a_call_returns() {
  Gpu gpu(1);
  const auto stream = gpu.new_stream();
  const auto event = gpu.new_event();
  expect_calls({"SetDevice 1", "StreamCreate 1", "EventCreate 2"});
  expect::equal(gpu.name(), std::string("Stand-in (CUDA 13.2)"));
  const auto array = gpu.allocate(8);
  const auto pinned = gpu.allocate_on_host(8);
  stand_in::take_calls();

  double value = 3, back = 0;
  gpu.upload(stream, &value, array.data(), 8);
  expect_calls({"MemcpyAsync", "StreamSynchronize"});
  gpu.download(stream, array.data(), &back, 8);
  expect_calls({"MemcpyAsync", "StreamSynchronize"});
  expect::equal(back, value);
  gpu.copy_out(stream, array.data(), pinned.data(), 8);
  gpu.copy_in(stream, pinned.data(), array.data(), 8);
  gpu.record(event, stream);
  gpu.wait(stream, event);
  gpu.synchronise(event);
  gpu.synchronise();
  expect_calls({"MemcpyAsync", "MemcpyAsync", "EventRecord", "StreamWaitEvent", "EventSynchronize",
                "DeviceSynchronize"});

  expect::is_true(gpu.is_waited_for(), "an idle stream");
  stand_in::failing["StreamQuery"] = cudaErrorNotReady;
  expect::is_true(!gpu.is_waited_for(), "a stream that works");
  stand_in::failing["StreamQuery"] = cudaErrorIllegalAddress;
  expect::throws<std::runtime_error>([&] { static_cast<void>(gpu.is_waited_for()); },
                                     "querying a stream: an illegal memory access");
  stand_in::failing.clear();
  expect::is_true(gpu.has(array.data() + 7), "an array's last byte is the GPU's");
  expect::is_true(!gpu.has(&value), "a value of the host's is not");
  stand_in::failing["StreamSynchronize"] = cudaErrorIllegalAddress;
  expect::throws<std::runtime_error>([&] { gpu.synchronise(stream); },
                                     "synchronising a stream: an illegal memory access");
  stand_in::failing.clear();
  stand_in::take_calls();
}

/// Streams may still work with what is freed; but where a rank ends by an exception, they may wait
/// for ever, and it must get to tell the others.
void what_is_freed_is_waited_for_unless_an_exception_ends_all() {
  const auto work = [](bool fails) {
    Gpu gpu(0);
    const auto array = gpu.allocate(8);
    const auto pinned = gpu.allocate_on_host(8);
    static_cast<void>(gpu.new_stream());
    stand_in::take_calls();
    if (fails) throw std::runtime_error("a message was refused");
  };
  work(false);
  expect_calls({"DeviceSynchronize", "FreeHost", "DeviceSynchronize", "Free", "DeviceSynchronize",
                "StreamDestroy"});
  expect::throws<std::runtime_error>([&] { work(true); }, "a message was refused");
  expect_calls({});
}

}  // namespace

int main() {
  a_loop_is_run_once_for_every_index();
  sums_are_those_of_their_terms_in_an_order_of_their_own<4>(16);
  sums_are_those_of_their_terms_in_an_order_of_their_own<8>(17);
  sums_are_those_of_their_terms_in_an_order_of_their_own<16>(64);
  sums_are_those_of_their_terms_in_an_order_of_their_own<32>(65);
  a_launch_is_blamed_for_its_own_error_alone();
  values_that_meet_are_all_joined();
  sums_that_meet_are_added_by_the_memory();
  a_gpu_is_known_by_its_number_and_its_address();
  memory_of_the_host_is_read_and_written_when_a_call_returns();
  what_is_freed_is_waited_for_unless_an_exception_ends_all();
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
// The meter: what is run, what is counted, what the node model adds.
#include <algorithm>
#include <string>
#include <utility>

#include "device/emulated/emulated.hpp"
#include "expect.hpp"
#include "machine/meter.hpp"

using halobench::Communicator;
using halobench::EmulatedDevice;
using halobench::Meter;
using halobench::NodeModel;
using halobench::Span;

namespace {

Meter::Setting setting_with_a_model() {
  const expect::File machine("core_flops_per_s 1e9 1e9\ncores 4 1\nmemory 1 1e10\nmemory 4 4e10\n");
  return {NodeModel::read(machine.path()), 1, 1, true};
}

void phases_are_summed_over_calls_and_ranks(const Communicator& comm) {
  Meter meter({});
  auto& sweep = meter.phase("sweep");
  auto& halo = meter.phase("halo");
  int runs = 0;
  for (int i = 0; i < 6; ++i) meter.compute(sweep, {80, 20, 1e6}, [&] { ++runs; });
  for (int i = 0; i < 2; ++i) meter.communicate(halo, [&] { ++runs; });
  expect::equal(runs, 8);
  const auto text = meter.summary(comm, 2).dump();
  expect::contains(text, R"([{"name":"sweep","calls":3,"time_s":{"min":)");
  expect::contains(text, "\"bytes\":" + halobench::Json(240.0 * comm.size()).dump() +
                             ",\"flops\":" + halobench::Json(60.0 * comm.size()).dump() +
                             ",\"model_s\":null");
  expect::contains(text, R"({"name":"halo","calls":1,)");
  expect::contains(text, R"("bytes":0,"flops":0,"model_s":null}])");
}

void the_slowest_rank_is_the_maximum(const Communicator& comm) {
  Meter meter({});
  auto& phase = meter.phase("p");
  phase.time_s = comm.rank() + 1.0;
  phase.calls = 2;
  phase.bytes = 1;
  const double size = comm.size();
  const auto half = [](double value) { return halobench::Json(value / 2).dump(); };
  const auto text = meter.summary(comm, 2).dump();
  expect::contains(text, R"("time_s":{"min":0.5,"mean":)" + half((size + 1) / 2) +
                             ",\"max\":" + half(size) + "}");
  std::string each;
  for (int rank = 1; rank <= comm.size(); ++rank) each += (rank > 1 ? "," : "") + half(rank);
  if (comm.size() > 1 && comm.rank() == 0) expect::contains(text, "\"by_rank_s\":[" + each + "]");
}

void medians_are_over_repetitions_of_what_all_ranks_took(const Communicator& comm) {
  Meter meter({});
  meter.phase("a");
  meter.phase("b");
  const double rank = comm.rank();
  const double last = comm.size() - 1;
  // Two phases in each of three repetitions; "b" is once slow everywhere.
  const std::vector<double> seconds{2 + rank, 1, 4 + rank, 100 + rank, 3 + rank, 2};
  const auto reported = [](double least, double mean, double most) {
    return "\"median_s\":{\"min\":" + halobench::Json(least).dump() +
           ",\"mean\":" + halobench::Json(mean).dump() +
           ",\"max\":" + halobench::Json(most).dump() + "}";
  };
  const auto text = meter.summary(comm, 1, seconds).dump();
  expect::contains(text, reported(3, 3 + last / 2, 3 + last));
  expect::contains(text, reported(2, 2, 2));
  expect::equal(meter.summary(comm, 1).dump().find("median_s"), std::string::npos);
}

void the_model_is_charged_by_its_slowest_rank(const Communicator& comm) {
  Meter meter(setting_with_a_model());
  auto& phase = meter.phase("p");
  meter.compute(phase, {2e10 * (comm.rank() + 1), 0, 1e9}, [] {});
  meter.communicate(meter.phase("c"), [] {});
  const auto text = meter.summary(comm, 1).dump();
  expect::contains(text, "\"model_s\":" + halobench::Json(2.0 * comm.size()).dump());
  expect::contains(text, R"("model_s":null}])");
}

void a_trace_keeps_the_first_calls_and_their_parts(const Communicator&) {
  Meter meter({});
  auto& sweep = meter.phase("sweep");
  auto& halo = meter.phase("halo");
  int runs = 0;
  const auto step = [&] {
    meter.communicate(halo, [&] { meter.part("wait", [&] { ++runs; }); });
    meter.compute(sweep, {}, [&] { ++runs; });
  };
  step();
  meter.trace_begin(5);
  for (int i = 0; i < 2; ++i) step();
  const auto spans = meter.trace_end();
  step();
  expect::equal(runs, 8);
  std::string reported;
  for (const auto& span : spans) {
    reported += std::string(span.name) + std::to_string(span.depth) + " ";
    expect::is_true(span.begin_s <= span.end_s, "it ends before it begins");
  }
  expect::equal(reported, "wait1 halo0 sweep0 wait1 halo0 ");
  expect::is_true(spans[1].begin_s <= spans[0].begin_s && spans[0].end_s <= spans[1].end_s,
                  "a part outside its phase");
  meter.trace_begin(5);
  expect::equal(meter.trace_end().size(), 0U);
}

void warm_up_is_not_counted(const Communicator& comm) {
  Meter meter({});
  auto& phase = meter.phase("p");
  const auto run = [&] { meter.compute(phase, {8, 0, 8}, [] {}); };
  run();
  meter.reset();
  meter.count(false);
  run();
  run();
  meter.count(true);
  run();
  expect::equal(phase.calls, 1);
  expect::equal(phase.bytes, 8.0);
  expect::contains(meter.summary(comm, 1).dump(), R"([{"name":"p","calls":1,)");
}

void arithmetic_can_be_left_out() {
  auto setting = setting_with_a_model();
  setting.execute = false;
  setting.threads = 3;
  Meter meter(std::move(setting));
  bool computed = false;
  bool communicated = false;
  meter.compute(meter.phase("p"), {8, 0, 8}, [&] { computed = true; });
  meter.communicate(meter.phase("c"), [&] { communicated = true; });
  expect::equal(computed, false);
  expect::equal(communicated, true);
  expect::equal(meter.executes(), false);
  expect::equal(meter.threads(), 3);
}

void what_streams_do_is_traced_by_the_call_that_gave_it() {
  Meter meter({});
  EmulatedDevice device(EmulatedDevice::Lag::until_waited);
  device.report_to(meter);
  const auto work = device.new_stream();
  const auto copies = device.new_stream();
  const auto memory = device.allocate(8);
  const auto host = device.allocate_on_host(8);
  const auto pack = [&] { device.launch(work, {}, [] {}); };
  pack();
  meter.trace_begin(2);
  meter.part("pack", pack);
  meter.part("copy out", [&] { device.copy_out(copies, memory.data(), host.data(), 8); });
  meter.part("wait", [&] { device.synchronise(work); });
  pack();
  const auto spans = meter.trace_end();  // the copy is done by now
  expect::equal(spans.size(), 4U);
  for (const auto& [name, stream] : {std::pair{"pack", 0}, std::pair{"copy out", 1}}) {
    const auto found = std::ranges::find_if(spans, [&](const Span& span) {
      return span.stream == stream && span.name == std::string(name);
    });
    expect::is_true(found != spans.end(), name);
    expect::is_true(found != spans.end() && found->begin_s <= found->end_s, "its times");
    expect::is_true(found != spans.end() && found->begin_s >= spans[0].begin_s, "the rank's clock");
  }
  expect::is_true(!spans[0].stream, "the rank's own");
  pack();
  meter.trace_begin(2);
  expect::equal(meter.trace_end().size(), 0U);
}

}  // namespace

int main(int argc, char** argv) {
  const halobench::Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  phases_are_summed_over_calls_and_ranks(comm);
  the_slowest_rank_is_the_maximum(comm);
  medians_are_over_repetitions_of_what_all_ranks_took(comm);
  the_model_is_charged_by_its_slowest_rank(comm);
  a_trace_keeps_the_first_calls_and_their_parts(comm);
  what_streams_do_is_traced_by_the_call_that_gave_it();
  warm_up_is_not_counted(comm);
  arithmetic_can_be_left_out();
  return expect::exit_code();
}

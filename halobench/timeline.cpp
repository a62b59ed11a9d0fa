// SPDX-License-Identifier: BSD-3-Clause
#include "timeline.hpp"

#include "base/as_size.hpp"
#include "mpi/shared_clock.hpp"

namespace halobench {
namespace {

constexpr int most_ranks = 64;   ///< more rows are illegible in a figure
constexpr double lead_s = 1e-4;  ///< from announcing the start to the start

std::string rank_record(const std::vector<Span>& spans, const SharedClock& clock, double start_s) {
  Json calls = Json::array();
  for (const auto& span : spans) {
    auto call = Json::array();
    call.push(span.name)
        .push(span.depth)
        .push(clock.at_s(span.begin_s) - start_s)
        .push(clock.at_s(span.end_s) - start_s);
    if (span.stream) call.push(*span.stream);
    calls.push(std::move(call));
  }
  return calls.dump();
}

/// A step after one that warms up; all ranks start it at one time of the shared clock.
Json trace(const Communicator& comm, Instance& instance, Meter& meter, SharedClock& clock,
           std::size_t spans) {
  instance.prepare_for(1);
  instance.step();
  instance.complete();
  meter.settle();
  instance.prepare_for(1);
  clock.synchronise();
  double start_s = clock.now_s() + lead_s;
  check(MPI_Bcast(&start_s, 1, MPI_DOUBLE, 0, comm.handle()), "MPI_Bcast");
  meter.trace_begin(spans);
  clock.wait_until(start_s);
  instance.step();
  instance.complete();
  meter.settle();
  meter.require_no_work_left();
  const auto traced = meter.trace_end();
  const auto own = comm.rank() < most_ranks ? rank_record(traced, clock, start_s) : std::string();
  Json ranks = Json::array();
  for (auto& text : comm.gather(own)) {
    if (!text.empty()) ranks.push(Json::verbatim(std::move(text)));
  }
  return Json::object().set("clock_error_s", clock.error_s()).set("ranks", ranks);
}

}  // namespace

Json timeline(const Communicator& comm, Instance& instance, Meter& meter, std::int64_t spans,
              std::string& reason) {
  Json points = Json::array();
  if (spans == 0) return points;
  SharedClock clock(comm);
  meter.count(false);
  for (std::size_t point = 0; point < instance.points(); ++point) {
    instance.select(point);
    points.push(trace(comm, instance, meter, clock, as_size(spans)));
    const auto verdict = instance.verify();
    if (reason.empty()) reason = verdict.reason;
  }
  meter.count(true);
  return points;
}

}  // namespace halobench

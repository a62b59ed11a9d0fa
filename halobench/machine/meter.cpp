#include "machine/meter.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace halobench {

void Meter::reset() {
  for (auto& phase : phases_) phase = Phase{phase.name};
}

void Meter::trace_begin(std::size_t most) {
  spans_.clear();
  spans_.reserve(most);
  tracing_ = true;
}

std::vector<Span> Meter::trace_end() {
  tracing_ = false;
  return std::exchange(spans_, {});
}

Json Meter::summary(const Communicator& comm, double steps) const {
  Json out = Json::array();
  for (const auto& phase : phases_) {
    const double time_s = phase.time_s / steps;
    std::array sums{time_s, phase.bytes / steps, phase.flops / steps};
    std::array lowest{time_s};
    std::array highest{time_s, phase.model_s / steps};
    comm.sum(sums);
    comm.min(lowest);
    comm.max(highest);
    Json time = Json::object();
    time.set("min", lowest[0]).set("mean", sums[0] / comm.size()).set("max", highest[0]);
    out.push(
        Json::object()
            .set("name", phase.name)
            .set("calls",
                 static_cast<std::int64_t>(std::llround(static_cast<double>(phase.calls) / steps)))
            .set("time_s", time)
            .set("bytes", sums[1])
            .set("flops", sums[2])
            .set("model_s", setting_.model && sums[1] + sums[2] > 0 ? Json(highest[1]) : Json()));
  }
  return out;
}

}  // namespace halobench

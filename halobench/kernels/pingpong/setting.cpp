// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/pingpong/setting.hpp"

#include <limits>
#include <string>
#include <utility>

#include "base/simulation.hpp"
#include "machine/cache.hpp"

namespace halobench {
namespace {

constexpr std::int64_t window_bytes = std::int64_t{64} << 20;

}  // namespace

PingPongSetting parse_pingpong(const Params& params, std::int64_t ranks,
                               std::vector<Problem>& problems) {
  const bool cold = params.choice("cache") == "off";
  return {params.chosen<PingPongMode>("mode"),
          params.integer("window"),
          cold,
          cold ? 2 * last_cache_bytes() : 0,
          parse_messages(params),
          params.sizes("sizes"),
          parse_pairs(params.text("pairs"), ranks, problems)};
}

std::int64_t PingPongSetting::messages(std::int64_t size) const {
  if (!streams()) return 1;
  const auto fitting = std::max<std::int64_t>(2, window_bytes / std::max<std::int64_t>(1, size));
  return std::min(window, fitting);
}

std::int64_t PingPongSetting::buffer_bytes(std::int64_t (PingPongSetting::*slots)(std::int64_t)
                                               const) const {
  std::int64_t most = 0;
  for (const auto size : sizes) most = std::max(most, (this->*slots)(size)*Slots::stride(size));
  return most;
}

Plan plan_pingpong(const Params& params, const Shape& shape) {
  Plan plan;
  const auto setting = parse_pingpong(params, shape.ranks, plan.problems);
  plan_memory(setting.memory, plan);
  if (setting.cold && !simulated() && setting.rotate_bytes == 0) {
    plan.problems.push_back(
        {"cache", "off", "the size of the last-level cache is unknown; give warm"});
    return plan;
  }
  const auto sent = setting.buffer_bytes(&PingPongSetting::sent_slots);
  const auto received = setting.buffer_bytes(&PingPongSetting::received_slots);
  const double ways = static_cast<double>(setting.pairs.size()) * (setting.both_ways() ? 2.0 : 1.0);
  plan_buffers(setting.memory, ways * static_cast<double>(sent + received), plan);
  return plan;
}

std::vector<Parameter> pingpong_parameters() {
  using enum Parameter::Type;
  std::vector<Parameter> all = {
      Parameter::one_of(
          "mode", "imb",
          "type of transfer to time. imb: half a round trip, as in IMB-MPI1 PingPong (1000 round "
          "trips, or fewer if the messages exceed 40 MiB in total); osu: half a round trip, as in "
          "osu_latency (10000 round trips for messages up to 8 KiB, otherwise 1000); stream: "
          "one-way bandwidth, with a window of messages in flight; bistream: bandwidth in both "
          "directions at once",
          {"imb", "osu", "stream", "bistream"}),
      {"sizes", sizes, "0:4M", "message sizes", "B", 0,
       static_cast<double>(std::numeric_limits<int>::max())},
      {"pairs", text, "0-1",
       "pairs of ranks that communicate at the same time: a list such as 0-1,2-3; halves (0 with "
       "ranks/2, ...); or neighbours (0 with 1, 2 with 3, ...). Bandwidth and message rate are "
       "summed over pairs"},
      Parameter::one_of(
          "cache", "warm",
          "whether messages are in cache when they are sent. warm: reuse the same buffer; off: "
          "rotate through buffers that total twice the size of the last-level cache (data not in "
          "cache)",
          {"warm", "off"}),
      {"window", integer, "64",
       "number of messages in flight in stream and bistream modes (at most 64 MiB in total)", "", 1,
       65536},
  };
  for (auto& one : message_parameters()) all.push_back(std::move(one));
  return all;
}

}  // namespace halobench

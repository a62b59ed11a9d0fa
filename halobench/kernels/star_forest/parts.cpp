// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/star_forest/parts.hpp"

#include <array>

#include "star_forest/device_space.hpp"

namespace halobench {
namespace {

using Part = StarForest::Part;

struct Move {
  Part part;
  const char* name;
};

constexpr std::array moves{Move{Part::pack, "pack"}, Move{Part::scatter, "scatter"},
                           Move{Part::unpack, "unpack"}};
constexpr std::array copies{Move{Part::copy_out, "copy out"}, Move{Part::copy_in, "copy in"}};

}  // namespace

ForestParts::ForestParts(Space& space) : space_(space) {
  const auto* device = space.on_device();
  const bool by_stream = device != nullptr && device->by_stream();
  timed_.push_back({"messages", Of::both, Part::messages, by_stream});
  if (device != nullptr) {
    timed_.push_back({"begin", Of::bcast, Part::begin, false});
    timed_.push_back({"wait", Of::both, std::nullopt, true});
  }
  for (const auto of : {Of::bcast, Of::reduce}) {
    const std::string operation = of == Of::bcast ? "bcast " : "reduce ";
    const auto add = [&](const Move& move) {
      const auto name = operation + move.name;
      if (device != nullptr) timed_.push_back({name + " launch", of, move.part, false, true});
      timed_.push_back({name, of, move.part, device != nullptr});
    };
    for (const auto& move : moves) add(move);
    if (device == nullptr || !device->staged()) continue;
    for (const auto& copy : copies) add(copy);
  }
}

std::vector<StepPart> ForestParts::all() const {
  std::vector<StepPart> all;
  for (const auto& timed : timed_) all.push_back({timed.name, timed.goes_on});
  return all;
}

void ForestParts::run(StarForest& forest, std::size_t number, const Arrays& bcast,
                      const Arrays& reduce) const {
  const auto unit = Unit::of<double>();
  const auto& [name, of, part, waits, goes_on] = timed_[number];
  if (part && of != Of::reduce) {
    forest.run_bcast_part(*part, unit, bcast.roots, bcast.leaves, bcast.operation);
  }
  if (part && of != Of::bcast) {
    forest.run_reduce_part(*part, unit, reduce.leaves, reduce.roots, reduce.operation);
  }
  if (waits) space_.synchronise();
}

Json shape_record(const Communicator& comm, const StarForest& forest, Operation bcast,
                  Operation reduce) {
  const auto bytes = Unit::of<double>().bytes();
  const auto most = [&](std::int64_t number) {
    return static_cast<std::int64_t>(comm.max(static_cast<double>(number)));
  };
  auto moved = Json::object();
  for (const auto& [part, text] : moves) {
    const std::string name = text;
    moved.set("bcast " + name, most(forest.bcast_moves(part, bcast) * bytes));
    moved.set("reduce " + name, most(forest.reduce_moves(part, reduce) * bytes));
  }
  auto waits = Json::object();
  waits.set("bcast", most(forest.bcast_waits(bcast)));
  waits.set("reduce", most(forest.reduce_waits(reduce)));
  const auto sent = forest.bcast_sent();
  return Json::object()
      .set("messages", sent.messages)
      .set("remote_bytes", sent.units * bytes)
      .set("local_bytes", forest.local_units() * bytes)
      .set("moved_bytes", std::move(moved))
      .set("waits", std::move(waits));
}

}  // namespace halobench

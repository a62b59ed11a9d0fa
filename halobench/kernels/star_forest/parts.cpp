// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/star_forest/parts.hpp"

#include <array>

namespace halobench {
namespace {

using Part = StarForest::Part;

constexpr std::array moves{Part::pack, Part::scatter, Part::unpack};
constexpr std::array move_names{"pack", "scatter", "unpack"};

}  // namespace

std::vector<std::string> part_names() {
  std::vector<std::string> names{"messages"};
  for (const std::string operation : {"bcast", "reduce"}) {
    for (const std::string name : move_names) names.push_back(operation + " " + name);
  }
  return names;
}

void run_part(StarForest& forest, std::size_t part, const Arrays& bcast, const Arrays& reduce) {
  const auto unit = Unit::of<double>();
  const auto run_bcast = [&](Part one) {
    forest.run_bcast_part(one, unit, bcast.roots, bcast.leaves, bcast.operation);
  };
  const auto run_reduce = [&](Part one) {
    forest.run_reduce_part(one, unit, reduce.leaves, reduce.roots, reduce.operation);
  };
  if (part == 0) {
    run_bcast(Part::messages);
    run_reduce(Part::messages);
  } else if (part <= moves.size()) {
    run_bcast(moves[part - 1]);
  } else {
    run_reduce(moves[part - 1 - moves.size()]);
  }
}

Json shape_record(const Communicator& comm, const StarForest& forest, Operation bcast,
                  Operation reduce) {
  const auto bytes = Unit::of<double>().bytes();
  const auto most = [&](std::int64_t units) {
    return static_cast<std::int64_t>(comm.max(static_cast<double>(units * bytes)));
  };
  auto moved = Json::object();
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const std::string name = move_names[i];
    moved.set("bcast " + name, most(forest.bcast_moves(moves[i], bcast)));
    moved.set("reduce " + name, most(forest.reduce_moves(moves[i], reduce)));
  }
  const auto sent = forest.bcast_sent();
  return Json::object()
      .set("messages", sent.messages)
      .set("remote_bytes", sent.units * bytes)
      .set("local_bytes", forest.local_units() * bytes)
      .set("moved_bytes", std::move(moved));
}

}  // namespace halobench

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

Json shape_record(const StarForest& forest) {
  const auto sent = forest.bcast_sent();
  return Json::object()
      .set("messages", sent.messages)
      .set("remote_bytes", sent.units * Unit::of<double>().bytes())
      .set("local_bytes", forest.local_units() * Unit::of<double>().bytes());
}

}  // namespace halobench

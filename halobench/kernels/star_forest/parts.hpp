// SPDX-License-Identifier: BSD-3-Clause
// The parts of a broadcast and the reduction that follows it, each by itself: what the split-phase
// model is made from. Zhang, Mills and Smith 2020, section 6.
#pragma once

#include "base/record.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench {

/// What one of the two works on: doubles, one a unit.
struct Arrays {
  double* roots;
  double* leaves;
  Operation operation;
};

/// "messages": those of both, one after the other, as a rank waits for what it has not sent itself
/// only in the second; then pack, scatter and unpack of each.
std::vector<std::string> part_names();

/// Runs the part with that place in part_names().
void run_part(StarForest& forest, std::size_t part, const Arrays& bcast, const Arrays& reduce);

/// What this rank sends in a broadcast, what it keeps, and for each part but the messages the bytes
/// that the rank with the most moves. Collective.
Json shape_record(const Communicator& comm, const StarForest& forest, Operation bcast,
                  Operation reduce);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// The parts of a broadcast and the reduction that follows it, each by itself: what the split-phase
// model is made from. Zhang, Mills and Smith 2020, section 6.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/record.hpp"
#include "kernel.hpp"
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
///
/// In a device's memory also "begin" (what the host does before it packs), "wait" (for a stream
/// that is idle), and "copy out" and "copy in" of staged messages. There each move is timed twice:
/// "bcast pack launch" until the host goes on, and "bcast pack" until it is done, that wait
/// included.
class ForestParts {
 public:
  explicit ForestParts(Space& space);

  std::vector<StepPart> all() const;
  /// Runs the part with that place in all().
  void run(StarForest& forest, std::size_t number, const Arrays& bcast, const Arrays& reduce) const;

 private:
  enum class Of { both, bcast, reduce };

  struct Timed {
    std::string name;
    Of of;
    std::optional<StarForest::Part> part;  ///< none: the wait at its end alone
    bool waits;                            ///< for the device
    bool goes_on = false;                  ///< there, after its time
  };

  Space& space_;
  std::vector<Timed> timed_;
};

/// What this rank sends in a broadcast, what it keeps, for each move the bytes that the rank with
/// the most moves, and how often an operation waits for a device's stream. Collective.
Json shape_record(const Communicator& comm, const StarForest& forest, Operation bcast,
                  Operation reduce);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// One step as each rank saw it: when its phases began and ended, by a clock that all ranks share.
#pragma once

#include "kernel.hpp"

namespace halobench {

/// Runs one more step of every point, with what a step needs before it and the answer's check after
/// it; the first `spans` calls of phases of the first 64 ranks are recorded, and as many works of
/// each one's device. An array with an entry a point on rank 0, each with an array a rank of [name,
/// depth, begin_s, end_s], seconds after the common start, of a device with the stream's number
/// behind them; empty where `spans` is 0. `reason` is set where an answer was wrong. Collective.
Json timeline(const Communicator& comm, Instance& instance, Meter& meter, std::int64_t spans,
              std::string& reason);

}  // namespace halobench

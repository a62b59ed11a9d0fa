// SPDX-License-Identifier: BSD-3-Clause
// The kernel's parameters: declared, parsed into one value, and checked before the launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel.hpp"
#include "kernels/memory/memory.hpp"
#include "mpi/pairs.hpp"
#include "mpi/slots.hpp"

namespace halobench {

/// The parameter `mode`.
enum class PingPongMode { imb, osu, stream, bistream };

struct PingPongSetting {
  PingPongMode mode;
  std::int64_t window;        ///< messages in flight, where they are streamed
  bool cold;                  ///< data in no cache
  std::int64_t rotate_bytes;  ///< messages pass through a buffer of this size; 0: stay in place
  MemorySettings memory;      ///< staged: each message is copied to where it is sent from
  std::vector<std::int64_t> sizes;
  std::vector<Pair> pairs;

  bool streams() const { return mode == PingPongMode::stream || mode == PingPongMode::bistream; }
  bool both_ways() const { return mode != PingPongMode::stream; }

  /// Messages that one side sends in a step. Of large ones, two keep the way busy.
  std::int64_t messages(std::int64_t size) const;
  std::int64_t received_slots(std::int64_t size) const {
    return std::max(messages(size), rotate_bytes / Slots::stride(size));
  }
  /// Sending many at once from one place is allowed; receiving is not, nor is writing to it.
  std::int64_t sent_slots(std::int64_t size) const {
    return rotate_bytes > 0 || memory.staged() ? received_slots(size) : 1;
  }
  /// Of the largest buffer that any of the sizes needs.
  std::int64_t buffer_bytes(std::int64_t (PingPongSetting::*slots)(std::int64_t) const) const;
};

/// Appends what is wrong with the pairs to `problems`; plan_pingpong() finds all other problems.
PingPongSetting parse_pingpong(const Params& params, std::int64_t ranks,
                               std::vector<Problem>& problems);

Plan plan_pingpong(const Params& params, const Shape& shape);

std::vector<Parameter> pingpong_parameters();

}  // namespace halobench

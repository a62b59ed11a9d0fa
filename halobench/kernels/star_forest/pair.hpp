// SPDX-License-Identifier: BSD-3-Clause
// One star forest between ranks 0 and 1, there and back: what sf_pingpong, sf_newpingpong,
// sf_unpack and sf_scatter share. Zhang, Mills and Smith 2020, sections 5.1 and 5.2.
#pragma once

#include "kernel.hpp"
#include "star_forest/space.hpp"

namespace halobench {

/// What the four tests differ in.
struct PairTest {
  const char* name;
  const char* summary;
  const char* section;       ///< of the report
  bool two_buffers = false;  ///< receives into another buffer than the one it sends
  bool adds = false;         ///< sums, where the others replace
  bool local = false;        ///< rank 0 has leaves of its own, too
};

/// Its arrays and buffers are in the space that `make_space` makes; without one, in the memory that
/// its parameters ask for.
Kernel pair_kernel(const PairTest& test, const SpaceMaker& make_space = {});

}  // namespace halobench

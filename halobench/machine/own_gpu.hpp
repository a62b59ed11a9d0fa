// SPDX-License-Identifier: BSD-3-Clause
// Which GPU of its node this rank works on.
#pragma once

#include <string>

namespace halobench {

/// As a record has it, in JSON: set by who makes the device; empty where that is no GPU.
inline std::string& own_gpu() {
  static std::string known;
  return known;
}

}  // namespace halobench

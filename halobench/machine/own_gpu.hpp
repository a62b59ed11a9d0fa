// SPDX-License-Identifier: BSD-3-Clause
// Which GPU of its node this rank works on.
#pragma once

#include <string>

namespace halobench {

/// GPU of this rank as JSON, for the record: set by the device; empty unless it is a GPU.
inline std::string& own_gpu() {
  static std::string known;
  return known;
}

}  // namespace halobench

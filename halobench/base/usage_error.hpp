// SPDX-License-Identifier: BSD-3-Clause
// What a user has to remedy: found while planning (Problem) or after it (UsageError).
#pragma once

#include <stdexcept>
#include <string>

namespace halobench {

/// One thing a user must remedy before the case can run.
struct Problem {
  std::string key;
  std::string value;
  std::string message;  ///< what is allowed, or what to do
};

/// Bad usage found after planning (exit code 2 on every rank).
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Whether an MPI library takes addresses of a GPU's memory.
#pragma once

#include <optional>
#include <string>

namespace halobench {

/// What the library says, of "cuda" or "hip", once MPI has begun; nothing where it has no function
/// that says so.
std::optional<bool> mpi_says_aware(const std::string& kind);

}  // namespace halobench

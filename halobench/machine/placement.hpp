// SPDX-License-Identifier: BSD-3-Clause
// Where a rank and its threads really are.
#pragma once

#include <string>

namespace halobench {

/// This rank's host, processors and each thread's processors, as one JSON object.
std::string placement(int rank);

/// The host's name, as MPI knows it.
std::string host_name();

}  // namespace halobench

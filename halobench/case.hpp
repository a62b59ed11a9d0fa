// SPDX-License-Identifier: BSD-3-Clause
// One case under MPI: set up, measured, verified, and written down as one JSON record.
#pragma once

#include "command.hpp"
#include "mpi/communicator.hpp"

namespace halobench {

/// Runs the case on all ranks of `comm`; rank 0 writes the record. The exit code, the same on every
/// rank: 0 good, 1 wrong answer. Throws UsageError, alike on every rank, for bad input.
int run_case(const Command& command, const Environment& environment, const Communicator& comm);

}  // namespace halobench

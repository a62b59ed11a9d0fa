// SPDX-License-Identifier: BSD-3-Clause
// One refusal for all ranks, where only some of them have seen what is wrong.
#pragma once

#include <string>

#include "mpi/communicator.hpp"

namespace halobench {

/// Throws a UsageError on every rank where any has a problem (that is not empty): what the first of
/// them says. So no rank waits for one that has given up. Collective.
void refuse_together(const Communicator& comm, std::string problem);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a node tell each other.
#pragma once

#include <string>
#include <vector>

#include "mpi/communicator.hpp"

namespace halobench {

/// The text of every rank that shares this rank's node, in their order, on each of them; texts have
/// no line breaks. Collective.
std::vector<std::string> gathered_on_node(const Communicator& comm, const std::string& text);

}  // namespace halobench

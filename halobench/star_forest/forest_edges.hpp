// SPDX-License-Identifier: BSD-3-Clause
// What a rank gives to set up a star forest: checked, and sorted by the ranks that it concerns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "star_forest/index_set.hpp"

namespace halobench {

/// Where a leaf's root is.
struct Root {
  int rank = 0;
  std::int64_t index = 0;
};

/// The first leaf whose root is missing, in words, or nothing. Collective, and only the way to an
/// error message: every rank learns how many roots every other has.
std::string missing_root(const Communicator& comm, std::int64_t roots, std::span<const Root> edges,
                         std::span<const std::int64_t> leaves);

/// Throws the problem of the lowest rank that has one as UsageError, on every rank; returns where
/// none has. Collective.
void throw_first(const Communicator& comm, const std::string& problem);

/// Edges to one rank, in their order: their leaves here, their roots there.
struct Bundle {
  int rank = 0;
  Sequence leaves;
  Sequence roots;
};

/// Edges by the rank of their root, in rank order; none where edges and leaves are not as many.
std::vector<Bundle> by_rank(std::span<const Root> edges, std::span<const std::int64_t> leaves);

/// What is wrong with this rank's own edges, or nothing. `bundles`: by_rank() of them.
std::string own_problem(const Communicator& comm, std::span<const Root> edges,
                        std::span<const std::int64_t> leaves, const std::vector<Bundle>& bundles);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Which rows a worker has: a thread of a rank, the threads of rank 0 first.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/communicator.hpp"
#include "numerics/sparse/sparse_rows.hpp"

namespace halobench {

/// Where the rows of each of `workers` begin, and at the end how many rows there are.
using Begins = std::vector<std::int64_t>;

/// As many rows each.
Begins cut_by_rows(std::int64_t rows, std::int64_t workers);

/// As many nonzeros each, as far as whole rows allow. Collective; each rank counts its share.
Begins cut_by_nonzeros(const Communicator& comm, const SparseRows& source, std::int64_t workers);

/// The rows of each rank as given, cut into as many rows for each of its threads.
Begins cut_parts(const Begins& parts, std::int64_t threads);

}  // namespace halobench

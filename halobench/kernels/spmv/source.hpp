// SPDX-License-Identifier: BSD-3-Clause
// The matrix of a case, how its rows are distributed, and the memory that it needs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernel.hpp"
#include "kernels/spmv/partition.hpp"
#include "kernels/spmv/settings.hpp"
#include "numerics/sparse/sparse_rows.hpp"

namespace halobench {

struct Source {
  std::unique_ptr<SparseRows> rows;
  std::vector<std::int64_t> parts;  ///< where the rows of each rank begin, if the source says
};

/// Collective. Throws UsageError on every rank where a file is not as it should be.
Source make_source(const Context& context, const SpmvSettings& settings);

/// Collective.
Begins make_begins(const Context& context, const SpmvSettings& settings, const Source& source);

Plan plan_spmv(const Params& params, const Shape& shape);

}  // namespace halobench

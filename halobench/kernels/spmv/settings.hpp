// SPDX-License-Identifier: BSD-3-Clause
// The kernel's parameters: declared, and parsed into one value.
#pragma once

#include <string>
#include <vector>

#include "kernels/memory/memory.hpp"
#include "numerics/sparse/sparse_rows.hpp"

namespace halobench {

/// The parameter `overlap`.
enum class Overlap { none, split, split_temporary, early_launch };

struct SpmvSettings {
  Recipe recipe;          ///< its name may be a file's
  bool generated;         ///< the matrix, by the recipe; otherwise it is read
  std::string path;       ///< of the file, without what is added for a partition
  std::string partition;  ///< rows, nonzeros, or graph; plan_spmv() refuses others
  Overlap overlap;
  bool shared_columns;
  MemorySettings memory;
};

std::vector<Parameter> spmv_parameters();

SpmvSettings parse_spmv(const Params& params);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// What a product must be: row by row from the matrix's source, without blocks, ghosts or messages.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/spmv/distributed_csr.hpp"
#include "machine/memory.hpp"
#include "numerics/sparse/sparse_rows.hpp"

namespace halobench {

/// A vector, known everywhere: its value at an index.
using VectorAt = double (*)(std::int64_t);

class Answer {
 public:
  /// For the rows of this rank, each worker's placed by its own thread. `source` must outlive it.
  Answer(Memory& memory, const SparseRows& source, const DistributedCsr& matrix);

  /// From now on for this x.
  void expect(VectorAt x);
  /// How many of this rank's values are not `scale`, a power of two, times those of A x. Where
  /// sums are not exact, each may be off by the rounding of its terms: n eps sum |a_ij x_j|.
  std::int64_t wrong(const double* y, double scale) const;

 private:
  const SparseRows& source_;
  const DistributedCsr& matrix_;
  Buffer<double> expected_;
  Buffer<double> error_;  ///< none where sums are exact
};

}  // namespace halobench

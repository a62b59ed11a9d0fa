// SPDX-License-Identifier: BSD-3-Clause
// A square sparse matrix, its rows shared out over ranks and threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernel.hpp"
#include "kernels/spmv/partition.hpp"
#include "numerics/sparse/csr.hpp"
#include "numerics/sparse/sparse_rows.hpp"
#include "star_forest/host_space.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench {

/// What one thread has of a rank's rows, and of those with entries in other ranks' columns
/// (coupled rows).
struct WorkerRows {
  Range rows;     ///< counted from the rank's first
  Range coupled;  ///< counted from the rank's first coupled row
};

/// What a rank stores.
struct CsrCounts {
  std::int64_t rows = 0;
  std::int64_t diagonal = 0;      ///< nonzeros in the rank's own columns
  std::int64_t off_diagonal = 0;  ///< nonzeros in columns of others
  std::int64_t coupled = 0;       ///< rows that have some of these
  std::int64_t ghosts = 0;        ///< columns of others that are needed
  std::int64_t lists = 0;         ///< numbers in shared lists of columns
};

/// How the diagonal block stores columns: one per nonzero, or in lists that rows share.
enum class Columns { stored, shared };
class ColumnLists;

/// Two blocks on each rank (Zhang, Mills and Smith 2020, section 5.4; as PETSc's MPIAIJ): the
/// diagonal one has the columns of the rank's own rows, the off-diagonal one, without empty rows,
/// those of others. Columns are 32-bit: the former counted from the first own row, the latter the
/// places of ghosts. A star forest has the ghosts as its leaves, in the order of their rows, so
/// that they arrive in place.
class DistributedCsr {
 public:
  /// `begins`: of all workers, see partition.hpp. Every rank visits its own rows twice, each thread
  /// its own, so that they lie near it. Collective. Without execution nothing is stored.
  /// x and the ghosts are in the space that `make_space` makes.
  DistributedCsr(const Context& context, const SparseRows& source, const Begins& begins,
                 Columns columns = Columns::stored, const SpaceMaker& make_space = make_host_space);
  ~DistributedCsr();

  /// Of the whole matrix.
  Range rows() const { return rows_; }
  const CsrCounts& counts() const { return counts_; }
  const std::vector<WorkerRows>& workers() const { return workers_; }
  Csr diagonal() const { return diagonal_.view(); }
  /// The same with shared columns.
  SharedCsr shared_diagonal() const {
    return {diagonal_.begin.data(), places_.data(), lists_.data(), diagonal_.values.data()};
  }
  Csr off_diagonal() const { return off_diagonal_.view(); }
  /// The rows of the off-diagonal block, counted from the rank's first.
  const std::int32_t* coupled_rows() const { return coupled_rows_.data(); }
  StarForest& forest() const { return *forest_; }
  Space& space() const { return *space_; }

 private:
  struct Block {
    Buffer<std::int64_t> begin;
    Buffer<std::int32_t> columns;
    Buffer<double> values;

    Csr view() const { return {begin.data(), columns.data(), values.data()}; }
  };

  bool shared() const { return columns_ == Columns::shared; }
  void count(const SparseRows& source);
  void fill(const SparseRows& source);
  void fill(const SparseRows& source, std::size_t worker);
  void connect(const Context& context, const Begins& rank_begins);

  Range rows_;
  std::vector<WorkerRows> workers_;
  std::vector<CsrCounts> before_;  ///< what a rank's workers before each one store
  std::vector<std::int64_t> ghost_columns_;
  CsrCounts counts_;
  Columns columns_;
  std::vector<ColumnLists> found_lists_;  ///< by worker, until they are stored
  Block diagonal_;                        ///< without columns where these are shared
  Buffer<std::int32_t> places_;           ///< of rows in the lists
  Buffer<std::int32_t> lists_;
  Block off_diagonal_;
  Buffer<std::int32_t> coupled_rows_;
  std::unique_ptr<Space> space_;  ///< of x and the ghosts
  std::unique_ptr<StarForest> forest_;
};

}  // namespace halobench

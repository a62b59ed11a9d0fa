// SPDX-License-Identifier: BSD-3-Clause
// Products with sparse matrices in compressed sparse rows.
#pragma once

#include <cstdint>

#include "numerics/grid.hpp"

namespace halobench {

/// Row i has values[k] in columns[k], k from begin[i] to begin[i + 1]. Whose memory it is, is not
/// said here.
struct Csr {
  const std::int64_t* begin;
  const std::int32_t* columns;
  const double* values;
};

/// The same with column offsets from the row. Rows with the same offsets share a list of them, as
/// those of a stencil: lists[places[i]] is row i's length, and its offsets follow.
struct SharedCsr {
  const std::int64_t* begin;
  const std::int32_t* places;
  const std::int32_t* lists;
  const double* values;
};

/// y[i] = row i times x, for the rows of a range.
void multiply(const Csr& a, Range rows, const double* x, double* y);
void multiply(const SharedCsr& a, Range rows, const double* x, double* y);

/// y[places[i]] += row i times x: of a matrix without its empty rows.
void multiply_add(const Csr& a, const std::int32_t* places, Range rows, const double* x, double* y);

/// y[places[i]] += z[i].
void scatter_add(const std::int32_t* places, Range rows, const double* z, double* y);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spmv/answer.hpp"

#include <cmath>
#include <limits>

#include "base/as_size.hpp"

namespace halobench {

Answer::Answer(Memory& memory, const SparseRows& source, const DistributedCsr& matrix)
    : source_(source),
      matrix_(matrix),
      expected_(memory.allocate<double>(matrix.counts().rows)),
      error_(memory.allocate<double>(source.whole() ? 0 : matrix.counts().rows)) {}

void Answer::expect(VectorAt x) {
  const auto first = matrix_.rows().begin;
#pragma omp parallel for schedule(static, 1)
  for (const auto& worker : matrix_.workers()) {
    source_.visit({first + worker.rows.begin, first + worker.rows.end},
                  [&](std::int64_t row, std::span<const Entry> entries) {
                    double sum = 0;
                    double size = 0;
                    for (const auto& [column, value] : entries) {
                      const double term = value * x(column);
                      sum += term;
                      size += std::abs(term);
                    }
                    const auto i = as_size(row - first);
                    expected_[i] = sum;
                    if (source_.whole()) return;
                    const auto terms = static_cast<double>(entries.size());
                    error_[i] = terms * std::numeric_limits<double>::epsilon() * size;
                  });
  }
}

std::int64_t Answer::wrong(const double* y, double scale) const {
  std::int64_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
  for (std::size_t i = 0; i < expected_.size(); ++i) {
    const double allowed = source_.whole() ? 0 : scale * error_[i];
    const double off = std::abs(y[i] - scale * expected_[i]);
    wrong += off <= allowed ? 0 : 1;  // not a number is wrong
  }
  return wrong;
}

}  // namespace halobench

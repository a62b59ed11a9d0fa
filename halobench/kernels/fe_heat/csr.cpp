// SPDX-License-Identifier: BSD-3-Clause
// The assembled operator: compressed sparse rows, made line by line of nodes without a search.
//
// In a box of nodes the neighbours of a node are known by their steps along the axes, and so is how
// many entries stand before its row. Every line of rows is made by itself, in order of columns. A
// column is the place of a node's value on this rank, 32 bits wide.
#include "numerics/sparse/csr.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/as_size.hpp"
#include "base/prefetch.hpp"
#include "kernels/fe_heat/operator.hpp"
#include "numerics/poisson/poisson_rows.hpp"

namespace halobench::heat {
namespace {

constexpr std::size_t full = 27;  ///< entries of a row whose neighbours all have unknowns

/// Steps along an axis to the neighbours of a node that have unknowns, its own step of 0 among
/// them.
struct Steps {
  std::int64_t first;
  std::int64_t last;

  std::int64_t count() const { return last - first + 1; }
};

/// Of a node counted from the rank's first.
Steps steps_of(const Part& part, std::size_t axis, std::int64_t node) {
  const auto over_the_mesh = part.nodes()[axis].begin + node;
  return {over_the_mesh > 1 ? -1 : 0, over_the_mesh < part.elements()[axis] - 1 ? 1 : 0};
}

/// Steps of a rank's first `nodes` along an axis.
std::int64_t count_steps(const Part& part, std::size_t axis, std::int64_t nodes) {
  if (nodes == 0) return 0;
  const bool to_the_end = nodes == part.size(axis) && steps_of(part, axis, nodes - 1).last == 0;
  return 3 * nodes - (steps_of(part, axis, 0).first == 0 ? 1 : 0) - (to_the_end ? 1 : 0);
}

/// The entries of a row: how far from the node's own place their columns are, ascending; values.
struct RowPattern {
  std::size_t count = 0;
  std::array<std::int32_t, full> offsets{};
  std::array<double, full> values{};
};

/// One entry after the other from `from`, `shift` added to each.
template <class Value>
void copy(const RowPattern& pattern, const std::array<Value, full>& from, Value shift, Value* to) {
  if (pattern.count == full) {  // a length that the compiler knows: nearly all rows
    for (std::size_t i = 0; i < full; ++i) to[i] = from[i] + shift;
  } else {
    for (std::size_t i = 0; i < pattern.count; ++i) to[i] = from[i] + shift;
  }
}

/// x += alpha p and r -= alpha q on a line; returns the sum of squares of the new r.
double advance_line(double alpha, const double* p, const double* q, double* x, double* r,
                    std::int64_t count) {
  const auto bytes = sizeof(double) * as_size(count);
  prefetch<Soon::write>(x + values_ahead, bytes);
  prefetch<Soon::write>(r + values_ahead, bytes);
  double squares = 0;
#pragma omp simd reduction(+ : squares)
  for (std::int64_t i = 0; i < count; ++i) {
    x[i] += alpha * p[i];
    const double next = r[i] - alpha * q[i];
    r[i] = next;
    squares += next * next;
  }
  return squares;
}

class CsrOperator : public Operator {
 public:
  CsrOperator(const Context& context, const Part& part)
      : part_(part),
        nonzeros_(count_nonzeros(part)),
        begin_(context.memory.allocate<std::int64_t>(part.rows() + 1)),
        columns_(context.memory.allocate<std::int32_t>(nonzeros_)),
        values_(context.memory.allocate<double>(nonzeros_)),
        product_(context.memory.allocate<double>(part.rows())) {}

  void forget() override {
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    part_.for_each_line(part_.whole(), [&](const Line& line) {
      const auto row = part_.row_of(0, line.y, line.z);
      const auto entries = entries_of(line);
      std::fill_n(begin_.data() + row, line.size(), entries.begin);
      std::fill_n(columns_.data() + entries.begin, entries.size(), 0);
      std::fill_n(values_.data() + entries.begin, entries.size(), nothing);
      std::fill_n(product_.data() + row, line.size(), nothing);
    });
  }

  void generate() override {
    begin_[0] = 0;
    part_.for_each_line(part_.whole(), [&](const Line& line) {
      for_each_row(line, {}, [&](std::int64_t x, std::int64_t entry, const RowPattern& pattern) {
        const auto place = static_cast<std::int32_t>(part_.places().of(x, line.y, line.z));
        copy(pattern, pattern.offsets, place, columns_.data() + entry);
        begin_[as_size(part_.row_of(x, line.y, line.z) + 1)] =
            entry + static_cast<std::int64_t>(pattern.count);
      });
    });
  }

  void assemble(const NodeRow& row) override {
    part_.for_each_line(part_.whole(), [&](const Line& line) {
      for_each_row(line, row, [&](std::int64_t, std::int64_t entry, const RowPattern& pattern) {
        copy(pattern, pattern.values, 0.0, values_.data() + entry);
      });
    });
  }

  void multiply(const Piece& piece, const double* p, std::span<double> sums) override {
    const Csr matrix{begin_.data(), columns_.data(), values_.data()};
    part_.for_each_line(piece, [&](const Line& line) {
      const auto row = part_.row_of(line.begin, line.y, line.z);
      halobench::multiply(matrix, {row, row + line.size()}, p, product_.data());
      sums[as_size(line.number)] =
          dot(p + part_.place_of(line), product_.data() + row, line.size());
    });
  }

  void advance(double alpha, const double* p, double* x, double* r,
               std::span<double> squares) override {
    part_.for_each_line(part_.whole(), [&](const Line& line) {
      const auto place = part_.place_of(line);
      const double* product = product_.data() + part_.row_of(line.begin, line.y, line.z);
      squares[as_size(line.number)] =
          advance_line(alpha, p + place, product, x + place, r + place, line.size());
    });
  }

  std::int64_t nonzeros() const override { return nonzeros_; }

  Traffic generate_traffic() const override {
    const double written = 4 * entries() + 8 * rows();
    return {2 * written, 0, written, 2 * written};
  }
  Traffic assemble_traffic() const override {
    const double written = 8 * entries();
    return {2 * written, 0, written, 2 * written};
  }
  /// Values and columns, where rows begin, p, and A p.
  Traffic multiply_traffic(std::int64_t rows_of_piece) const override {
    const auto share = rows_of_piece > 0 ? static_cast<double>(rows_of_piece) / rows() : 0.0;
    const double working_set = 12 * entries() + 24 * rows();
    return {share * (12 * entries() + 32 * rows()), share * (2 * entries() + 2 * rows()),
            working_set, share * 16 * rows()};
  }
  /// A p, read.
  Traffic product_traffic() const override { return {8 * rows(), 0, 8 * rows(), 0}; }

 private:
  double entries() const { return static_cast<double>(nonzeros_); }
  double rows() const { return static_cast<double>(part_.rows()); }

  /// Of all rows of a line of the whole rank.
  Range entries_of(const Line& line) const {
    const auto along_x = count_steps(part_, 0, part_.size(0));
    const auto of_plane = count_steps(part_, 1, part_.size(1));
    const auto of_line = steps_of(part_, 2, line.z).count();
    const auto before =
        count_steps(part_, 2, line.z) * of_plane + of_line * count_steps(part_, 1, line.y);
    const auto own = of_line * steps_of(part_, 1, line.y).count();
    return {along_x * before, along_x * (before + own)};
  }

  RowPattern pattern_of(const Line& line, std::int64_t x, const NodeRow& row) const {
    const auto along_x = steps_of(part_, 0, x);
    const auto along_y = steps_of(part_, 1, line.y);
    const auto along_z = steps_of(part_, 2, line.z);
    const auto& places = part_.places();
    RowPattern pattern;
    for (auto dz = along_z.first; dz <= along_z.last; ++dz) {
      for (auto dy = along_y.first; dy <= along_y.last; ++dy) {
        for (auto dx = along_x.first; dx <= along_x.last; ++dx) {
          pattern.offsets[pattern.count] =
              static_cast<std::int32_t>(dx + places.row() * dy + places.plane() * dz);
          pattern.values[pattern.count] = row[place_in_row(dx, dy, dz)];
          ++pattern.count;
        }
      }
    }
    return pattern;
  }

  /// body(x, where the row's entries begin, its pattern): only a line's ends differ from the rest.
  template <class Body>
  void for_each_row(const Line& line, const NodeRow& row, Body&& body) const {
    auto entry = entries_of(line).begin;
    RowPattern pattern;
    for (std::int64_t x = 0; x < line.end; ++x) {
      if (x < 2 || x == line.end - 1) pattern = pattern_of(line, x, row);
      body(x, entry, pattern);
      entry += static_cast<std::int64_t>(pattern.count);
    }
  }

  const Part& part_;
  std::int64_t nonzeros_;
  Buffer<std::int64_t> begin_;
  Buffer<std::int32_t> columns_;
  Buffer<double> values_;
  Buffer<double> product_;  ///< A p
};

}  // namespace

std::int64_t count_nonzeros(const Part& part) {
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) product *= count_steps(part, axis, part.size(axis));
  return product;
}

std::unique_ptr<Operator> make_csr(const Context& context, const Part& part) {
  return std::make_unique<CsrOperator>(context, part);
}

}  // namespace halobench::heat

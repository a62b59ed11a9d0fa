// SPDX-License-Identifier: BSD-3-Clause
// Generated matrices against their definitions, and products against sums over all columns.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/as_size.hpp"
#include "expect.hpp"
#include "numerics/sparse/csr.hpp"
#include "numerics/sparse/sparse_rows.hpp"

using namespace halobench;

namespace {

using Row = std::map<std::int64_t, double>;

std::vector<Row> rows_of(const SparseRows& matrix, Range range) {
  std::vector<Row> rows;
  matrix.visit(range, [&](std::int64_t row, std::span<const Entry> entries) {
    expect::equal(row, range.begin + std::ssize(rows));
    auto& found = rows.emplace_back();
    std::int64_t last = -1;
    for (const auto& [column, value] : entries) {
      expect::is_true(column > last && column < matrix.rows(), "columns ascend and are there");
      expect::is_true(std::abs(column - row) <= matrix.reach(), "within reach");
      last = column;
      found[column] = value;
    }
  });
  expect::equal(std::ssize(rows), range.size());
  return rows;
}

double count(const std::vector<Row>& rows) {
  double sum = 0;
  for (const auto& row : rows) sum += static_cast<double>(row.size());
  return sum;
}

/// On an n x n (x n) grid, the distance of two points along each axis determines if they couple.
void stencils_are_what_their_names_say() {
  constexpr std::int64_t n = 4;
  for (const std::string name : {"2d5", "2d9", "3d7", "3d27"}) {
    const bool corners = name == "2d9" || name == "3d27";
    const auto matrix = generated_rows({name, n});
    expect::equal(matrix->rows(), name[0] == '2' ? n * n : n * n * n);
    const auto rows = rows_of(*matrix, {0, matrix->rows()});
    expect::equal(matrix->nonzeros(), count(rows));
    const double inside = std::stod(name.substr(2)) - 1;
    for (std::int64_t i = 0; i < matrix->rows(); ++i) {
      for (std::int64_t j = 0; j < matrix->rows(); ++j) {
        const auto x = std::abs(i % n - j % n);
        const auto y = std::abs(i / n % n - j / n % n);
        const auto z = std::abs(i / n / n - j / n / n);
        const bool near = corners ? std::max({x, y, z}) <= 1 : x + y + z <= 1;
        const auto& row = rows[as_size(i)];
        expect::equal(row.contains(j), near);
        if (near) expect::equal(row.at(j), i == j ? inside : -1.0);
      }
    }
  }
}

void any_part_of_a_matrix_is_the_same() {
  for (const auto& name : recipe_names()) {
    const auto matrix = generated_rows({name, 6, 3, 5});
    const auto whole = rows_of(*matrix, {0, matrix->rows()});
    for (std::int64_t first = 0; first < matrix->rows(); ++first) {
      const auto part = rows_of(*matrix, {first, matrix->rows()});
      expect::is_true(std::equal(part.begin(), part.end(), whole.begin() + first),
                      name + " differs from row " + std::to_string(first));
    }
  }
}

void random_rows_fill_their_band() {
  for (const std::int64_t n : {1, 5, 40}) {
    for (const std::int64_t bandwidth : {0, 1, 3, 20, 100}) {
      for (const std::int64_t length : {1, 4, 27}) {
        const auto matrix = generated_rows({"random", n, length, bandwidth});
        const auto rows = rows_of(*matrix, {0, n});
        expect::equal(matrix->nonzeros(), count(rows));
        const auto reach = bandwidth == 0 ? n : bandwidth;
        for (std::int64_t i = 0; i < n; ++i) {
          const auto there = std::min(n, i + reach + 1) - std::max(std::int64_t{0}, i - reach);
          expect::equal(std::ssize(rows[as_size(i)]), std::min(length, there));
        }
      }
    }
  }
}

/// Twice as long is 2^1.5 times as rare.
void row_lengths_follow_a_power_law() {
  constexpr std::int64_t n = 20000;
  const auto matrix = generated_rows({"power_law", n, 12});
  std::map<std::size_t, double> longer;  // than 8, 16, ... 64
  const auto rows = rows_of(*matrix, {0, n});
  for (const auto& row : rows) {
    for (std::size_t length = 8; length <= 64; length *= 2) longer[length] += row.size() > length;
  }
  for (std::size_t length = 8; length < 64; length *= 2) {
    const double ratio = longer[length] / longer[2 * length];
    expect::is_true(ratio > 2.2 && ratio < 3.6, "ratio " + std::to_string(ratio));
  }
  expect::is_true(std::abs(count(rows) / matrix->nonzeros() - 1) < 0.15, "about as many nonzeros");
}

/// Rows of 0 to 40 entries.
void products_are_sums_over_columns() {
  constexpr std::int64_t n = 41;
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::vector<double> x;
  std::vector<double> expected;
  std::vector<std::int32_t> places;
  for (std::int32_t i = 0; i < n; ++i) {
    x.push_back(1 + i % 7);
    places.push_back(static_cast<std::int32_t>(n) - 1 - i);
  }
  for (std::int32_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int32_t k = 0; k < i; ++k) {
      columns.push_back((3 * k + i) % static_cast<std::int32_t>(n));
      values.push_back(i - 2 * k);
      sum += values.back() * x[as_size(columns.back())];
    }
    begin.push_back(std::ssize(columns));
    expected.push_back(sum);
  }
  const Csr a{begin.data(), columns.data(), values.data()};
  std::vector<double> y(n, -1);
  std::vector<double> z(n, 100);
  multiply(a, {2, n - 3}, x.data(), y.data());
  multiply_add(a, places.data(), {0, n}, x.data(), z.data());
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = as_size(i);
    expect::equal(y[at], i < 2 || i >= n - 3 ? -1 : expected[at]);
    expect::equal(z[as_size(places[at])], 100 + expected[at]);
  }
  scatter_add(places.data(), {1, 3}, expected.data(), z.data());
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto at = as_size(i);
    const double times = i == 1 || i == 2 ? 2 : 1;
    expect::equal(z[as_size(places[at])], 100 + times * expected[at]);
  }
}

}  // namespace

int main() {
  stencils_are_what_their_names_say();
  any_part_of_a_matrix_is_the_same();
  random_rows_fill_their_band();
  row_lengths_follow_a_power_law();
  products_are_sums_over_columns();
  return expect::exit_code();
}

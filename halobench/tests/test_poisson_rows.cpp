// SPDX-License-Identifier: BSD-3-Clause
// The row functions against their definitions, point by point.
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "base/as_size.hpp"
#include "expect.hpp"
#include "numerics/poisson/poisson_rows.hpp"

using namespace halobench;

namespace {

constexpr std::int64_t rows = 6;
constexpr std::int64_t cols = 21;

/// A strip with random vectors inside; the boundary is 0 all around, or only above and below.
class Example {
 public:
  explicit Example(bool open = false, std::int64_t width = cols)
      : layout_({{0, rows}, {0, width}}), memory_(4 * size()) {
    strip.place = {{0, rows}, {0, width}};
    strip.inside = {{0, rows}, {open ? 1 : 0, open ? width - 1 : width}};
    std::int64_t at = 0;
    for (Field* field : {&strip.x, &strip.r, &strip.p, &strip.q}) {
      *field = layout_.field(memory_.data() + at);
      at += layout_.size();
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = open ? -1 : 0; j < (open ? width + 1 : width); ++j) {
          field->row(i)[j] = uniform_(generator_);
        }
      }
    }
  }

  Strip strip;

 private:
  std::size_t size() const { return as_size(layout_.size()); }

  Layout layout_;
  std::vector<double> memory_;
  std::minstd_rand generator_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

double product(const Field& v, std::int64_t i, std::int64_t j) {
  return 4 * v.row(i)[j] - v.row(i - 1)[j] - v.row(i + 1)[j] - v.row(i)[j - 1] - v.row(i)[j + 1];
}

RowSums sweep(const Strip& strip, const Step& step) {
  RowSums total;
  advance_direction(strip, -1, step);
  advance_direction(strip, 0, step);
  for (std::int64_t i = 0; i <= rows; ++i) {
    const auto sums = advance(strip, i, i < rows ? step : Step{});
    total.edges += sums.edges;
    if (i == rows) break;
    total.residual += sums.residual;
    total.coupling += sums.coupling;
  }
  return total;
}

void near(double found, double expected,
          std::source_location where = std::source_location::current()) {
  expect::is_true(std::abs(found - expected) < 1e-12,
                  std::to_string(found) + " is not " + std::to_string(expected), where);
}

void a_sweep_is_an_iteration_of_the_textbook() {
  const Step step{0.3, 0.7, true, -0.2};
  const Example before;
  const Example after;
  sweep(after.strip, step);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j)
      before.strip.x.row(i)[j] += -0.2 * before.strip.p.row(i)[j];
    turn(before.strip.p.row(i), before.strip.r.row(i), step.beta, cols);
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    multiply(before.strip.q, before.strip.p, i, {0, cols});
    add(before.strip.x.row(i), step.alpha, before.strip.p.row(i), cols);
    add(before.strip.r.row(i), -step.alpha, before.strip.q.row(i), cols);
    for (std::int64_t j = 0; j < cols; ++j) {
      near(before.strip.q.row(i)[j], product(after.strip.p, i, j));
      near(after.strip.p.row(i)[j], before.strip.p.row(i)[j]);
      near(after.strip.r.row(i)[j], before.strip.r.row(i)[j]);
      near(after.strip.x.row(i)[j], before.strip.x.row(i)[j]);
    }
  }
}

void its_sums_are_the_inner_products() {
  const Example example;
  const auto& strip = example.strip;
  const auto found = sweep(strip, {0.3, 0.7});
  RowSums expected;
  for (std::int64_t i = 0; i < rows; ++i) {
    expected.residual += dot(strip.r.row(i), strip.r.row(i), cols);
    for (std::int64_t j = 0; j < cols; ++j) {
      expected.coupling += strip.r.row(i)[j] * product(strip.p, i, j);
      expected.edges += strip.r.row(i)[j] * product(strip.r, i, j);
    }
  }
  near(found.residual, expected.residual);
  near(found.coupling, expected.coupling);
  near(found.edges, expected.edges);
}

void x_is_left_alone_where_the_step_says_so() {
  const Example before;
  const Example after;
  sweep(after.strip, {0.3, 0.7, false, 5});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      expect::equal(after.strip.x.row(i)[j], before.strip.x.row(i)[j]);
    }
  }
}

void blocks_of_columns_change_no_bit() {
  for (const std::int64_t width : {cols, std::int64_t{512}, std::int64_t{1101}}) {
    for (const bool solution : {false, true}) {
      const Step step{0.3, 0.7, solution, -0.2};
      const Example row_by_row(true, width);
      const Example in_blocks(true, width);
      for (const auto* example : {&row_by_row, &in_blocks}) {
        advance_direction(example->strip, -1, step);
        advance_direction(example->strip, 0, step);
      }
      std::array<RowSums, rows> sums;
      for (std::int64_t i = 0; i < rows; ++i) sums[as_size(i)] = advance(row_by_row.strip, i, step);
      std::int64_t done = 0;
      advance_rows(in_blocks.strip, step, [&](std::int64_t i, const RowSums& found) {
        expect::equal(found.residual, sums[as_size(i)].residual);
        expect::equal(found.coupling, sums[as_size(i)].coupling);
        expect::equal(found.edges, sums[as_size(i)].edges);
        ++done;
      });
      expect::equal(done, rows);
      for (const auto field : {&Strip::x, &Strip::r, &Strip::p}) {
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = -1; j <= width; ++j) {
            expect::equal((in_blocks.strip.*field).row(i)[j], (row_by_row.strip.*field).row(i)[j]);
          }
        }
      }
    }
  }
}

void what_is_foreseen_comes_to_the_last_bit() {
  const Step step{0.3, 0.7, false, 0};
  const Example example(true);
  const auto& strip = example.strip;
  std::array<double, cols> top{};
  std::array<double, rows> left{};
  std::array<double, rows> right{};
  foresee(strip, 0, 0, false, cols, step, top.data());
  foresee(strip, 0, 0, true, rows, step, left.data());
  foresee(strip, 0, cols - 1, true, rows, step, right.data());
  sweep(strip, step);
  for (std::size_t j = 0; j < top.size(); ++j) expect::equal(top[j], strip.r.row(0)[j]);
  for (std::size_t i = 0; i < left.size(); ++i) {
    expect::equal(left[i], strip.r.row(static_cast<std::int64_t>(i))[0]);
    expect::equal(right[i], strip.r.row(static_cast<std::int64_t>(i))[cols - 1]);
  }
}

void edges_that_leave_the_rank_are_left_to_others() {
  const Example example(true);
  const auto& strip = example.strip;
  const auto found = sweep(strip, {0.3, 0.7});
  double expected = 0;
  for (std::int64_t i = 0; i <= rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      expected += std::pow(strip.r.row(i)[j] - strip.r.row(i - 1)[j], 2);
      if (i < rows && j > 0) expected += std::pow(strip.r.row(i)[j] - strip.r.row(i)[j - 1], 2);
    }
  }
  near(found.edges, expected);
}

}  // namespace

int main() {
  a_sweep_is_an_iteration_of_the_textbook();
  its_sums_are_the_inner_products();
  x_is_left_alone_where_the_step_says_so();
  what_is_foreseen_comes_to_the_last_bit();
  blocks_of_columns_change_no_bit();
  edges_that_leave_the_rank_are_left_to_others();
  return expect::exit_code();
}

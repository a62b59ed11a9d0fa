// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with the answer of a solve: just inside and just outside of what is allowed.
#include <cmath>

#include "expect.hpp"
#include "kernels/poisson_cg/answer.hpp"

using halobench::Poisson;
using halobench::cg::Answer;
using halobench::cg::fault;
using halobench::cg::Limits;
using halobench::cg::Progress;

namespace {

constexpr double tolerance = 1e-6;
constexpr double h = 0.01;
const Poisson problem(99);

/// What is said of an answer to a solve that took its own residual for small enough.
std::string said_of(const Answer& answer) {
  const Limits limits{.tolerance = tolerance, .most = 10, .patience = 10};
  Progress progress(limits);
  progress.wants_more(1);
  progress.wants_more(0.25 * tolerance * tolerance);
  return fault(answer, progress, limits, problem);
}

void the_residual_is_small() {
  expect::equal(said_of({4 * h * h, 1.9 * tolerance}), "");
  expect::contains(said_of({4 * h * h, 2.1 * tolerance}), "above the tolerance 1.000e-06");
  expect::contains(said_of({4 * h * h, std::nan("")}), "above the tolerance");
}

void the_error_is_of_second_order() {
  expect::equal(said_of({7.9 * h * h, tolerance}), "");
  expect::contains(said_of({8.1 * h * h, tolerance}), "is not of second order");
  expect::contains(said_of({std::nan(""), tolerance}), "is not of second order");
}

void after_a_fixed_count_the_method_knows_its_residual() {
  const Limits limits{.iterations = 1};
  Progress progress(limits);
  progress.wants_more(1);
  progress.wants_more(0.25);
  const auto said = [&](double residual) {
    return fault({1, residual}, progress, limits, problem);
  };
  expect::equal(said(0.5), "");
  expect::contains(said(0.50001), "but the solver's own is 5.000e-01");
  expect::contains(said(std::nan("")), "but the solver's own is 5.000e-01");
}

}  // namespace

int main() {
  the_residual_is_small();
  the_error_is_of_second_order();
  after_a_fixed_count_the_method_knows_its_residual();
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
// When a solve stops, and what it then says.
#include <cmath>
#include <limits>

#include "expect.hpp"
#include "kernels/cg/progress.hpp"

using halobench::cg::Limits;
using halobench::cg::Progress;

namespace {

void it_converges() {
  Progress progress({.tolerance = 1e-2, .most = 10, .patience = 10});
  for (const double squared : {4.0, 9.0, 1.0, 5e-4})
    expect::is_true(progress.wants_more(squared), "more");
  expect::is_true(!progress.wants_more(4e-4), "(r, r) is down by 1e-4");
  expect::equal(progress.iterations(), 4);
  expect::near(progress.residual_relative(), 1e-2);
  expect::equal(progress.failure(), "");
}

void a_fixed_count_is_kept() {
  Progress progress({.iterations = 2, .tolerance = 1e-2});
  expect::is_true(progress.wants_more(1), "first");
  expect::is_true(progress.wants_more(1e-9), "second, though converged");
  expect::is_true(!progress.wants_more(1e-9), "no third");
  expect::equal(progress.iterations(), 2);
}

void nothing_is_left_to_do_at_zero() {
  Progress progress({.iterations = 5});
  expect::is_true(progress.wants_more(1), "first");
  expect::is_true(!progress.wants_more(0), "solved exactly");
  expect::equal(progress.iterations(), 1);
  expect::equal(progress.failure(), "");
}

void a_cap_is_a_failure() {
  Progress progress({.tolerance = 1e-2, .most = 3, .patience = 10});
  while (progress.wants_more(1)) {
  }
  expect::equal(progress.iterations(), 3);
  expect::contains(progress.failure(), "not converged after 3 iterations");
}

void no_progress_is_a_failure() {
  Progress progress({.tolerance = 1e-2, .most = 100, .patience = 4});
  progress.wants_more(1);
  while (progress.wants_more(2)) {
  }
  expect::equal(progress.iterations(), 4);
  expect::contains(progress.failure(), "stagnation: the residual did not decrease in the last 4");
}

void not_a_number_is_a_failure() {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Progress progress({.iterations = 9});
    progress.wants_more(1);
    expect::is_true(!progress.wants_more(bad), "no more");
    expect::contains(progress.failure(), "the residual is not finite after 1 iterations");
  }
}

void without_data_only_the_count_matters() {
  Progress progress({.iterations = 3, .observing = false});
  while (progress.wants_more(std::nan(""))) {
  }
  expect::equal(progress.iterations(), 3);
  expect::equal(progress.failure(), "");
}

}  // namespace

int main() {
  it_converges();
  a_fixed_count_is_kept();
  nothing_is_left_to_do_at_zero();
  a_cap_is_a_failure();
  no_progress_is_a_failure();
  not_a_number_is_a_failure();
  without_data_only_the_count_matters();
  return expect::exit_code();
}

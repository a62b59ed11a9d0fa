// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/poisson_cg/answer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "base/as_size.hpp"
#include "numerics/largest.hpp"

namespace halobench::cg {
namespace {

// The scheme's own error is 3.3 h^2 on fine meshes and at most 5.9 h^2 on coarse ones; what the
// solver's tolerance adds to it was seen to be a few thousandths of the tolerance.
constexpr double error_factor = 8;
constexpr double error_by_tolerance = 0.1;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// What one row adds to an Answer.
struct RowAnswer {
  double error_max = 0;
  double residual_squared = 0;
  double right_side_squared = 0;
};

RowAnswer examine_row(const Strip& strip, std::int64_t i, const Poisson& problem) {
  RowAnswer found;
  const std::int64_t row = strip.place.rows.begin + i;
  const double* x = strip.x.row(i);
  const double* above = strip.x.row(i - 1);
  const double* below = strip.x.row(i + 1);
  for (std::int64_t j = 0; j < strip.cols(); ++j) {
    const std::int64_t col = strip.place.cols.begin + j;
    const double right_side = problem.right_side(row, col);
    const double residual = right_side - (4.0 * x[j] - above[j] - below[j] - x[j - 1] - x[j + 1]);
    raise(found.error_max, std::abs(x[j] - problem.exact(row, col)));
    found.residual_squared += residual * residual;
    found.right_side_squared += right_side * right_side;
  }
  return found;
}

std::string text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific, 3)
                       .ptr;
  return {buffer.data(), end};
}

std::string fault_of_fixed_count(const Answer& answer, double updated, double attainable) {
  const double apart = std::abs(answer.residual_relative - updated);
  if (apart <= 1e-6 * std::max(1.0, updated) + 16 * attainable) return "";
  return "the recomputed residual is " + text(answer.residual_relative) +
         " of the initial one, but the solver's own is " + text(updated);
}

std::string fault_of_converged(const Answer& answer, const Limits& limits, const Poisson& problem,
                               double attainable) {
  const Bounds most = bounds_of_converged(limits, problem);
  if (!(answer.residual_relative <= most.residual_relative)) {
    return "the recomputed residual is " + text(answer.residual_relative) +
           " of the initial one, above the tolerance " + text(limits.tolerance) +
           "; rounding allows about " + text(attainable);
  }
  if (!problem.has_exact() || answer.error_max <= most.error_max) return "";
  return "the error " + text(answer.error_max) + " is not of second order: above " +
         text(most.error_max);
}

}  // namespace

Bounds bounds_of_converged(const Limits& limits, const Poisson& problem) {
  const double h = problem.h();
  return {error_factor * h * h + error_by_tolerance * limits.tolerance, 2 * limits.tolerance};
}

Answer examine(const Communicator& comm, Domain& domain, const Poisson& problem) {
  domain.refresh(&Strip::x);
  std::vector<RowAnswer> rows(as_size(domain.place().rows.size()));
  domain.each_strip([&](const Strip& strip) {
    for (std::int64_t i = 0; i < strip.rows(); ++i) {
      rows[as_size(domain.first_row(strip) + i)] = examine_row(strip, i, problem);
    }
  });
  double error = 0;
  std::array<double, 2> squared{};
  for (const auto& row : rows) {  // in order: the same for any number of threads
    raise(error, row.error_max);
    squared[0] += row.residual_squared;
    squared[1] += row.right_side_squared;
  }
  comm.sum(squared);
  return {comm.max(error), std::sqrt(squared[0] / squared[1])};
}

std::string fault(const Answer& answer, const Progress& progress, const Limits& limits,
                  const Poisson& problem) {
  if (!progress.failure().empty()) return progress.failure();
  const double attainable = epsilon / (problem.h() * problem.h());  // ~ eps |A| |x| / |b|
  if (limits.iterations > 0) {
    return fault_of_fixed_count(answer, progress.residual_relative(), attainable);
  }
  return fault_of_converged(answer, limits, problem, attainable);
}

Json surface(const Communicator& comm, const Domain& domain, const Poisson& problem,
             std::int64_t samples) {
  std::vector<double> solution(as_size(samples * samples));
  std::vector<double> error(solution.size());
  const auto node = [&](std::int64_t k) {  // -1 and n are the boundary
    return samples == 1 ? problem.n() / 2 : k * (problem.n() + 1) / (samples - 1) - 1;
  };
  for (const auto& strip : domain.strips()) {
    for (std::int64_t k = 0; k < samples * samples; ++k) {
      const std::int64_t row = node(k / samples);
      const std::int64_t col = node(k % samples);
      if (!strip.place.contains(row, col)) continue;
      const double x = strip.x.row(row - strip.place.rows.begin)[col - strip.place.cols.begin];
      solution[as_size(k)] = x;
      error[as_size(k)] = problem.exact(row, col) - x;
    }
  }
  comm.sum(solution);
  comm.sum(error);
  return Json::object().set("points", samples).set("solution", solution).set("error", error);
}

}  // namespace halobench::cg

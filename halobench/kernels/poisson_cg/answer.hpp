// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with an answer, and a look at it: never timed.
#pragma once

#include <string>

#include "base/record.hpp"
#include "kernels/poisson_cg/domain.hpp"
#include "kernels/poisson_cg/solver.hpp"
#include "numerics/poisson/poisson.hpp"

namespace halobench::cg {

/// x against the problem, over all ranks.
struct Answer {
  double error_max = 0;          ///< largest difference from the exact solution
  double residual_relative = 0;  ///< norm of b - A x, computed anew, relative to that of b
};

/// The most that is allowed of an answer.
struct Bounds {
  double error_max = 0;
  double residual_relative = 0;
};

/// Of what a converged solve may be off by: an error of second order, and the tolerance.
Bounds bounds_of_converged(const Limits& limits, const Poisson& problem);

/// Looks at every point; fills the halos of x. Collective.
Answer examine(const Communicator& comm, Domain& domain, const Poisson& problem);

/// Why `answer` is wrong; empty if it is good. Converged: the residual must keep what the method
/// believed of it, and the error be of second order. Fixed count: the residual alone counts.
std::string fault(const Answer& answer, const Progress& progress, const Limits& limits,
                  const Poisson& problem);

/// {"points", "solution", "error"}: x and u - x at samples x samples mesh points spread evenly over
/// the square, its boundary included, row by row. The same on every rank. Collective.
Json surface(const Communicator& comm, const Domain& domain, const Poisson& problem,
             std::int64_t samples);

}  // namespace halobench::cg

// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with temperatures, and a look at them: never timed.
#pragma once

#include <string>

#include "kernels/cg/progress.hpp"
#include "kernels/fe_heat/solver.hpp"

namespace halobench::heat {

/// Temperatures against the problem, over all ranks.
struct Answer {
  double error_max = 0;          ///< largest difference from the series, at nodes with x <= 1/2
  double mean = 0;               ///< over all nodes of the mesh, those on the faces too
  double residual_relative = 0;  ///< norm of b - A x, computed anew, relative to that of b
  double attainable = 0;         ///< what rounding alone leaves of it, about
};

/// The most that is allowed of an answer.
struct Bounds {
  double error_max = 0;
  double residual_relative = 0;
};

/// Of what a converged solve may be off by: an error of second order, and the tolerance.
Bounds bounds_of_converged(const Extents& elements, double tolerance);

/// Looks at every node. The residual is computed element by element from the elements' matrix and
/// all nodes' temperatures, without the operator that was used. Collective.
Answer examine(const Communicator& comm, Solver& solver);

/// Why `answer` is wrong; empty if it is good. Converged: the residual must keep what the method
/// believed of it, and the error be of second order. Fixed count: the residual alone counts.
std::string fault(const Answer& answer, const cg::Progress& progress, const cg::Limits& limits,
                  const Extents& elements);

/// Why the matrix is not symmetric, of what it makes of two vectors that look random; empty if it
/// is. After assemble(); takes p. Collective.
std::string asymmetry(const Communicator& comm, Solver& solver);

}  // namespace halobench::heat

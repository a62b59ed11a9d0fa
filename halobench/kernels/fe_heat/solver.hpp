// SPDX-License-Identifier: BSD-3-Clause
// Heat conduction on a rank's nodes by the conjugate gradient method.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernel.hpp"
#include "kernels/cg/progress.hpp"
#include "kernels/fe_heat/operator.hpp"
#include "kernels/fe_heat/part.hpp"
#include "star_forest/host_space.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench::heat {

/// Hestenes and Stiefel's method without a preconditioner, from T = 0: the direction p is renewed
/// and its halo sent; A p of the nodes inside is formed while it travels, that of the others after
/// it; then x and r follow. Inner products are added up within these sweeps, line by line: the same
/// for any number of threads.
class Solver {
 public:
  Solver(const Context& context, const Bisection& mesh, const std::string& operator_name);

  const Part& part() const { return part_; }
  Operator& matrix() { return *operator_; }
  const Operator& matrix() const { return *operator_; }
  const StarForest& forest() const { return *forest_; }
  /// The unknowns, in places.
  const double* x() const { return x_.data(); }
  /// The direction, in places; its layer on the faces of the cube is 0.
  double* p() const { return p_.data(); }

  /// Overwrites the results of the last solve with invalid values, each thread its own part.
  void forget();
  /// The matrix and the right-hand side.
  void assemble();
  /// From T = 0, after assemble().
  void solve(cg::Progress& progress);

  /// Gives p's neighbours on other ranks their values. Collective.
  void exchange();
  /// A p of what is in p, in places, by the solve's own steps; overwrites x and r. Collective.
  const double* product();

  /// Of one iteration on this rank.
  double bytes_per_iteration() const;
  Work work(std::int64_t iterations) const;

 private:
  void turn_direction(double beta);
  /// (p, A p). Collective.
  double multiply();
  void multiply_pieces(std::span<const Piece> pieces);
  double advance(double alpha, cg::Progress& progress);
  double reduce(std::int64_t lines, double otherwise = 0);
  /// bytes, stored, flops: of a row.
  Traffic sweep(double bytes, double stored, double flops) const;
  Traffic start_traffic() const { return sweep(32, 32, 2); }
  Traffic turn_traffic() const { return sweep(24, 8, 2); }
  Traffic advance_traffic() const;

  const Context context_;
  const Part part_;
  const std::unique_ptr<Operator> operator_;
  HostSpace space_;
  Buffer<double> x_;
  Buffer<double> r_;
  Buffer<double> p_;
  std::unique_ptr<StarForest> forest_;
  std::vector<double> sums_;   ///< of lines, added up in their order
  Phase* generate_ = nullptr;  ///< nothing where no entries are stored
  Phase& assemble_;
  Phase& halo_;
  Phase& matvec_;
  Phase& dot_;
  Phase& update_;
};

/// The matrix of an element of the mesh on the unit cube, where all are alike.
ElementMatrix element_matrix(const Extents& elements);

}  // namespace halobench::heat

// SPDX-License-Identifier: BSD-3-Clause
// The matrix of heat conduction on a rank's nodes: assembled, or applied without one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernel.hpp"
#include "kernels/fe_heat/part.hpp"
#include "numerics/hexahedron.hpp"

namespace halobench::heat {

/// Conditions are eliminated symmetrically: rows and columns of nodes on the faces are omitted,
/// and the contributions of known temperatures are part of the right-hand side.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Writes to all memory of its own what no matrix has, each thread where it will work.
  virtual void forget() = 0;
  /// Finds which entries there are; nothing where none are stored.
  virtual void generate() {}
  /// Gives them their values, from the row of a node that has all its neighbours.
  virtual void assemble(const NodeRow& row) = 0;
  /// Of the nodes of a piece, for each line: the sum of p times A p. p: in places, with all
  /// neighbours of the piece.
  virtual void multiply(const Piece& piece, const double* p, std::span<double> sums) = 0;
  /// x += alpha p and r -= alpha A p on all nodes, after all pieces were multiplied; for each line,
  /// the sum of squares of the new r. All vectors in places.
  virtual void advance(double alpha, const double* p, double* x, double* r,
                       std::span<double> squares) = 0;

  /// Whether there is a matrix, and its entries on this rank.
  virtual bool stores() const { return true; }
  virtual std::int64_t nonzeros() const = 0;
  virtual Traffic generate_traffic() const { return {}; }
  virtual Traffic assemble_traffic() const { return {}; }
  /// Of multiply() on `rows` rows, and what the product adds to advance(). Bytes as
  /// the memory sees them: what is written without being read is fetched first.
  virtual Traffic multiply_traffic(std::int64_t rows) const = 0;
  virtual Traffic product_traffic() const = 0;
};

/// Its arrays, in bytes, without those that are as large as a line.
double operator_memory(const std::string& name, const Part& part);

/// Stored entries of the matrix of a rank.
std::int64_t count_nonzeros(const Part& part);

std::unique_ptr<Operator> make_csr(const Context& context, const Part& part);
std::unique_ptr<Operator> make_matrix_free(const Part& part);
std::unique_ptr<Operator> make_operator(const std::string& name, const Context& context,
                                        const Part& part);

}  // namespace halobench::heat

// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/hexahedron.hpp"

#include <cmath>

namespace halobench {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

/// -1 or 1: on which side of the reference cube a corner lies along an axis.
double side(std::size_t corner, std::size_t axis) { return (corner >> axis & 1U) != 0 ? 1 : -1; }

/// Derivatives of the corner's function at a point of the reference cube, which reaches from -1 to
/// 1.
Vector reference_gradient(std::size_t corner, const Vector& point) {
  Vector gradient{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double product = side(corner, axis) / 8;
    for (std::size_t other = 0; other < 3; ++other) {
      if (other != axis) product *= 1 + side(corner, other) * point[other];
    }
    gradient[axis] = product;
  }
  return gradient;
}

/// Rows of the cofactors of a matrix: the inverse is their transpose over the determinant.
Matrix cofactors(const Matrix& m) {
  Matrix found{};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& a = m[(i + 1) % 3];
    const auto& b = m[(i + 2) % 3];
    found[i] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  }
  return found;
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Adds what one Gauss point, of weight 1, gives to the upper triangle.
void add_point(const Corners& corners, const Vector& point, ElementMatrix& matrix) {
  std::array<Vector, hexahedron_corners> reference{};
  Matrix jacobian{};  // [i][j]: derivative of coordinate j along axis i of the reference cube
  for (std::size_t corner = 0; corner < hexahedron_corners; ++corner) {
    reference[corner] = reference_gradient(corner, point);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        jacobian[i][j] += reference[corner][i] * corners[corner][j];
      }
    }
  }
  const auto inverse = cofactors(jacobian);
  const double determinant = dot(jacobian[0], inverse[0]);
  std::array<Vector, hexahedron_corners> gradients{};
  for (std::size_t corner = 0; corner < hexahedron_corners; ++corner) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t i = 0; i < 3; ++i) {
        gradients[corner][j] += inverse[i][j] * reference[corner][i] / determinant;
      }
    }
  }
  for (std::size_t a = 0; a < hexahedron_corners; ++a) {
    for (std::size_t b = a; b < hexahedron_corners; ++b) {
      matrix[a][b] += dot(gradients[a], gradients[b]) * determinant;
    }
  }
}

}  // namespace

ElementMatrix conduction_matrix(const Corners& corners) {
  const double gauss = 1 / std::sqrt(3.0);
  ElementMatrix matrix{};
  for (std::size_t point = 0; point < 8; ++point) {
    add_point(corners, {gauss * side(point, 0), gauss * side(point, 1), gauss * side(point, 2)},
              matrix);
  }
  for (std::size_t a = 0; a < hexahedron_corners; ++a) {
    for (std::size_t b = 0; b < a; ++b) matrix[a][b] = matrix[b][a];
  }
  return matrix;
}

Corners brick_corners(const std::array<double, 3>& edges) {
  Corners corners{};
  for (std::size_t corner = 0; corner < hexahedron_corners; ++corner) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      corners[corner][axis] = side(corner, axis) > 0 ? edges[axis] : 0;
    }
  }
  return corners;
}

NodeRow node_row(const ElementMatrix& element) {
  NodeRow row{};
  for (std::size_t own = 0; own < hexahedron_corners; ++own) {  // corner that the node is
    for (std::size_t other = 0; other < hexahedron_corners; ++other) {
      std::array<std::int64_t, 3> step{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        step[axis] = static_cast<std::int64_t>(other >> axis & 1U) -
                     static_cast<std::int64_t>(own >> axis & 1U);
      }
      row[place_in_row(step[0], step[1], step[2])] += element[own][other];
    }
  }
  return row;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Steady heat conduction in linear 8-node hexahedra: an element's matrix, and a node's row of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halobench {

/// Corners of a hexahedron, x fastest: corner c lies at the upper end of x where bit 0 of c is set,
/// of y where bit 1 is, of z where bit 2 is.
constexpr std::size_t hexahedron_corners = 8;
using Corners = std::array<std::array<double, 3>, hexahedron_corners>;

/// Entry [a][b] is the integral of grad N_a . grad N_b over an element; N_a is trilinear, 1 at
/// corner a and 0 at the others.
using ElementMatrix = std::array<std::array<double, hexahedron_corners>, hexahedron_corners>;

/// Of any hexahedron, isoparametric, for a conductivity of 1, by 2 x 2 x 2 Gauss points, which are
/// exact where its faces are parallel. Symmetric to the last bit. Source: T. J. R. Hughes, The
/// Finite Element Method, 1987, sections 3.5 and 3.8.
ElementMatrix conduction_matrix(const Corners& corners);

/// The corners of a brick with these edges, which begins at the origin.
Corners brick_corners(const std::array<double, 3>& edges);

/// A node's row of the assembled matrix where all elements around it are alike: its neighbours'
/// weights, and its own in the middle, x fastest.
using NodeRow = std::array<double, 27>;

/// Where the neighbour that lies one step, or none, away along each axis is in a row.
constexpr std::size_t place_in_row(std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<std::size_t>((x + 1) + 3 * ((y + 1) + 3 * (z + 1)));
}

/// Entries of the eight elements around a node, added up for each neighbour that they share.
NodeRow node_row(const ElementMatrix& element);

}  // namespace halobench

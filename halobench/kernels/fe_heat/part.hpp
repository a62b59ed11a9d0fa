// SPDX-License-Identifier: BSD-3-Clause
// What a rank has of the mesh: its nodes, where their values lie, and which ranks it exchanges
// with.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/fe_heat/bisection.hpp"
#include "numerics/node_row_product.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench::heat {

/// Some of a rank's nodes, counted from its first along each axis. Sums over them have a place for
/// each line of nodes along x, from `first_line` on.
struct Piece {
  Brick nodes;
  std::int64_t first_line = 0;
};

/// A line of a piece: nodes `begin` to `end` along x at (y, z), counted from the rank's first.
struct Line {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t y;
  std::int64_t z;
  std::int64_t number;  ///< among the lines of all pieces

  std::int64_t size() const { return end - begin; }
};

/// The places of nodes' values in a vector: x fastest, with a layer around them; rows are padded to
/// whole vector registers.
class Places {
 public:
  explicit Places(const Brick& nodes)
      : nodes_(nodes),
        row_((nodes[0].size() + 2 + node_row_unit - 1) / node_row_unit * node_row_unit),
        plane_(row_ * (nodes[1].size() + 2)),
        count_(plane_ * (nodes[2].size() + 2)) {}

  std::int64_t count() const { return count_; }
  /// From a node to the next along y, and along z.
  std::int64_t row() const { return row_; }
  std::int64_t plane() const { return plane_; }
  /// Of a node counted from the first; -1 and the number of nodes are the layer.
  std::int64_t of(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return (x + 1) + row_ * (y + 1) + plane_ * (z + 1);
  }
  /// Of nodes numbered over the mesh, in the layer or within.
  IndexSet of(const Brick& nodes) const;

 private:
  Brick nodes_;
  std::int64_t row_;
  std::int64_t plane_;
  std::int64_t count_;
};

/// Nodes are numbered over the mesh, from 0 on each axis. Those inside the cube have unknowns: node
/// (i, j, k) belongs to the rank of element (i, j, k). All vectors have the same places, with a
/// layer around the rank's nodes: in the direction p, it has ghosts of other ranks' nodes, and
/// nodes on the faces of the cube, which stay 0.
class Part {
 public:
  Part(const Bisection& mesh, std::int64_t rank);

  const Extents& elements() const { return elements_; }
  /// Elements of the rank's box.
  std::int64_t box() const { return box_; }
  /// The rank's unknowns, numbered over the mesh; perhaps none.
  const Brick& nodes() const { return nodes_; }
  std::int64_t rows() const { return volume(nodes_); }
  /// Of its nodes, along an axis.
  std::int64_t size(std::size_t axis) const { return nodes_[axis].size(); }

  /// Of a node in the matrix.
  std::int64_t row_of(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return x + size(0) * (y + size(1) * z);
  }
  const Places& places() const { return places_; }
  std::int64_t place_of(const Line& line) const { return places_.of(line.begin, line.y, line.z); }

  /// All nodes.
  const Piece& whole() const { return whole_; }
  /// Those that have no neighbour on another rank.
  const Piece& inside() const { return inside_; }
  /// The others.
  const std::vector<Piece>& shell() const { return shell_; }
  /// Of all pieces but the whole one.
  std::int64_t lines() const { return lines_; }

  /// The nodes of other ranks that this one needs: places here, and there.
  const std::vector<Bond>& bonds() const { return bonds_; }
  std::int64_t ghosts() const;
  /// Values that an exchange copies to and from buffers: all that are not a single run.
  std::int64_t buffered() const;

  /// body(line) for each line of a piece, shared out over threads.
  template <class Body>
  void for_each_line(const Piece& piece, Body&& body) const {
    for_each_lines<1>(piece, [&](const Line& line, std::int64_t) { body(line); });
  }
  /// body(first line, count) for each `most` lines of a piece that are next to each other along y,
  /// and for those that remain in each plane, shared out over threads.
  template <std::int64_t most, class Body>
  void for_each_lines(const Piece& piece, Body&& body) const {
    const auto [xs, ys, zs] = piece.nodes;
    const std::int64_t groups = xs.size() > 0 ? (ys.size() + most - 1) / most : 0;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < groups * zs.size(); ++i) {
      const auto y = i % groups * most;
      const auto z = i / groups;
      body(Line{xs.begin, xs.end, ys.begin + y, zs.begin + z, piece.first_line + ys.size() * z + y},
           std::min(most, ys.size() - y));
    }
  }

 private:
  static Brick nodes_of(const Bisection& mesh, std::int64_t rank);
  void cut_shell();
  void add_to_shell(Brick rest, std::size_t axis, Range range);
  void find_bonds(const Bisection& mesh, std::int64_t rank);

  Extents elements_;
  std::int64_t box_;
  Brick nodes_;
  Places places_;
  Piece whole_;
  Piece inside_;
  std::vector<Piece> shell_;
  std::int64_t lines_ = 0;
  std::vector<Bond> bonds_;
};

}  // namespace halobench::heat

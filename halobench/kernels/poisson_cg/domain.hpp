// SPDX-License-Identifier: BSD-3-Clause
// A rank's part of the grid: strips for its threads, and the halos between strips and ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/as_size.hpp"
#include "kernel.hpp"
#include "mpi/halo_exchange.hpp"
#include "mpi/rank_grid.hpp"
#include "numerics/grid.hpp"
#include "numerics/poisson/poisson.hpp"
#include "numerics/poisson/poisson_rows.hpp"

namespace halobench::cg {

/// A vector of the solver: &Strip::x, &Strip::r ...
using Vector = Field Strip::*;

/// The axes of the grid of ranks: its rows from top to bottom, its columns from left to right.
constexpr std::size_t vertical = 0;
constexpr std::size_t horizontal = 1;

/// How the grid is cut: over ranks into rows or blocks, and each rank's part into strips of rows.
struct Cut {
  std::int64_t n = 0;
  RankGrid ranks;
  std::int64_t threads = 1;
  std::int64_t halo = 1;  ///< points beyond an edge that a neighbour's values are kept of

  Rectangle place(int rank) const;
  /// 1 where a rank has a neighbour one step (-1 or 1) along an axis, else 0.
  std::int64_t open(int rank, std::size_t axis, int step) const {
    return ranks.neighbour(rank, axis, step) == MPI_PROC_NULL ? 0 : 1;
  }
  /// One for each thread, but none with fewer rows than the halo.
  std::vector<Rectangle> strips(int rank) const;
  /// Memory for `vectors` vectors and the buffers for messages of one layer, over all ranks.
  double memory_bytes(int vectors) const;
};

/// A straight part of the rank's edge that is in one strip, and its place in the buffers.
struct Segment {
  const Strip* strip;
  std::int64_t row;  ///< of its first point, in the strip
  std::int64_t col;
  std::int64_t outwards;  ///< from a point to its halo point beyond the edge, in doubles
  bool downwards;         ///< its points lie one below the other, else side by side
  std::int64_t count;
  double* send = nullptr;
  double* receive = nullptr;
};

class Domain {
 public:
  /// Strips with the first `vectors` of the vectors x, r, p, q, s, z, w.
  Domain(const Context& context, const Cut& cut, int vectors, ExchangeMode mode);

  const std::vector<Strip>& strips() const { return strips_; }
  const Rectangle& place() const { return place_; }
  const Cut& cut() const { return cut_; }
  /// A strip's first row, counted in this rank's part.
  std::int64_t first_row(const Strip& strip) const {
    return strip.place.rows.begin - place_.rows.begin;
  }

  /// Runs body(strip) for all strips, each in the thread that owns it.
  template <class Body>
  void each_strip(const Body& body) const {
    const auto count = std::ssize(strips_);
#pragma omp parallel for schedule(static, 1) num_threads(static_cast<int>(count))
    for (std::int64_t i = 0; i < count; ++i) body(strips_[as_size(i)]);
  }

  /// x = 0, r = the right-hand side, and 0 everywhere else, halos included.
  void start_from_zero(const Poisson& problem);

  /// Where this rank's edge has a neighbour: upper and lower edge, then left and right.
  const std::vector<Segment>& row_segments() const { return row_segments_; }
  const std::vector<Segment>& column_segments() const { return column_segments_; }
  double edge_points() const;

  HaloExchange& exchange() { return *exchange_; }
  void pack(Vector vector) const;
  void unpack_rows(Vector vector) const { unpack(row_segments_, vector); }
  void unpack_columns(Vector vector) const { unpack(column_segments_, vector); }
  /// Fills the halos between the strips of this rank.
  void join(Vector vector) const;
  /// All halos of one vector, outside the timed part.
  void refresh(Vector vector);

 private:
  /// Gives buffers to the segments of one side, if there is a neighbour, and adds them to `edge`.
  Neighbour meet(int rank, std::vector<Segment> side, std::vector<Segment>& edge);
  std::vector<Segment> column(std::int64_t col, std::int64_t outwards) const;
  void unpack(const std::vector<Segment>& segments, Vector vector) const;

  Memory& memory_;
  Cut cut_;
  Rectangle place_;
  std::vector<Buffer<double>> buffers_;
  std::vector<Strip> strips_;
  std::vector<Segment> row_segments_;
  std::vector<Segment> column_segments_;
  std::unique_ptr<HaloExchange> exchange_;
};

}  // namespace halobench::cg

// Ranks in a two-dimensional grid, row by row.
#pragma once

namespace halobench {

struct GridShape {
  int rows = 1;
  int cols = 1;
};

/// The most even rows x cols = ranks with rows >= cols, as MPI_Dims_create gives it; but known
/// without MPI, before anything is launched.
GridShape even_shape(int ranks);

/// One rank's place in a grid of ranks.
class ProcessGrid {
 public:
  ProcessGrid(GridShape shape, int rank)
      : shape_(shape), row_(rank / shape.cols), col_(rank % shape.cols) {}

  GridShape shape() const { return shape_; }
  int row() const { return row_; }
  int col() const { return col_; }
  /// The rank that many rows down and columns right; MPI_PROC_NULL outside the grid.
  int neighbour(int down, int right) const;

 private:
  GridShape shape_;
  int row_;
  int col_;
};

}  // namespace halobench

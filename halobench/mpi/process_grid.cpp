#include "mpi/process_grid.hpp"

#include <mpi.h>

namespace halobench {

GridShape even_shape(int ranks) {
  int cols = 1;
  for (int divisor = 1; divisor <= ranks / divisor; ++divisor) {
    if (ranks % divisor == 0) cols = divisor;
  }
  return {ranks / cols, cols};
}

int ProcessGrid::neighbour(int down, int right) const {
  const int row = row_ + down;
  const int col = col_ + right;
  const bool inside = row >= 0 && row < shape_.rows && col >= 0 && col < shape_.cols;
  return inside ? row * shape_.cols + col : MPI_PROC_NULL;
}

}  // namespace halobench

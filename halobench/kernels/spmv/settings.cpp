// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spmv/settings.hpp"

#include <algorithm>
#include <utility>

namespace halobench {

SpmvSettings parse_spmv(const Params& params) {
  const auto& matrix = params.file("matrix");
  const bool generated = std::ranges::count(recipe_names(), matrix) > 0;
  return {{matrix, params.integer("n"), params.integer("row_length"), params.integer("bandwidth")},
          generated,
          params.path("matrix"),
          params.text("partition"),
          params.chosen<Overlap>("overlap"),
          params.choice("columns") == "shared",
          parse_memory(params)};
}

std::vector<Parameter> spmv_parameters() {
  using enum Parameter::Type;
  std::vector<Parameter> all = {
      {"matrix", file, "3d27",
       "matrix to multiply by: a stencil on a square (2d5, 2d9) or cube (3d7, 3d27), "
       "random (see row_length and bandwidth), power_law (see row_length), or a "
       "Matrix Market file (NAME.mtx, NAME.mtx.gz, or a NAME.tar.gz that contains "
       "NAME.mtx)"},
      {"n", integer, "100",
       "number of grid points along each axis (stencils) or number of rows (random, "
       "power_law); for a Matrix Market file, set by the file",
       "", 1, 1e15},
      {"row_length", integer, "27",
       "nonzeros per row (random) or mean nonzeros per row (power_law), at most the "
       "number of columns within the matrix bandwidth; for a Matrix Market file, the mean "
       "number of nonzeros per row, rounded",
       "", 1, 1e9},
      {"bandwidth", integer, "0",
       "maximum distance of nonzeros from the diagonal with matrix=random; 0: no limit", "", 0,
       1e15},
      {"partition", text, "rows",
       "what to distribute evenly over ranks and threads. rows; nonzeros; graph (Matrix Market "
       "files "
       "only): rows, which METIS renumbers to minimise connections between ranks"},
      Parameter::one_of(
          "overlap", "split",
          "how messages overlap with the product. none: the product starts once all messages "
          "have arrived; "
          "split: the product with local columns is computed while messages are in flight, and the "
          "product with remote columns afterwards; split_temporary: as split, but the remote "
          "product is computed in a separate vector, which is added at the end; early_launch "
          "(on a device only): as split, but the messages are sent after the local product has "
          "been launched. With split_temporary and several threads, the thread that waits for the "
          "messages computes the remote product, except in simulations. On a device, "
          "split_temporary also sends the messages after the launch of the local product, and uses "
          "one stream per product. In figure 12 of the published report, scheme a is split, b "
          "is early_launch, and c is split_temporary",
          {"none", "split", "split_temporary", "early_launch"}),
      Parameter::one_of("columns", "stored",
                        "storage of column indices. stored: 4 bytes per nonzero; shared (not with "
                        "memory=device): rows whose local columns have the same offsets, such as "
                        "rows of a stencil, share one list of offsets",
                        {"stored", "shared"}),
  };
  for (auto& one : memory_parameters(false)) all.push_back(std::move(one));
  return all;
}

}  // namespace halobench

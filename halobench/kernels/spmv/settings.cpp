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
       "a stencil on a square or cube (2d5, 2d9, 3d7, 3d27), random (see row_length, "
       "bandwidth), power_law (see row_length), or a Matrix Market file (NAME.mtx, NAME.mtx.gz, or "
       "a NAME.tar.gz that contains it)"},
      {"n", integer, "100",
       "size of the matrix: grid points along each axis (stencil), rows (random, power_law), or "
       "set by the file",
       "", 1, 1e15},
      {"row_length", integer, "27",
       "nonzeros per row of random, and their mean for power_law, at most the columns within the "
       "bandwidth; for a file, their rounded mean",
       "", 1, 1e9},
      {"bandwidth", integer, "0",
       "largest distance of a column from the diagonal, for random; 0: no limit", "", 0, 1e15},
      {"partition", text, "rows",
       "what to distribute evenly over ranks and threads: rows or nonzeros. For a Matrix Market "
       "file also graph: METIS minimises connections between ranks and renumbers rows"},
      Parameter::one_of(
          "overlap", "split",
          "overlap of messages and product. none: messages, then product; split: product with "
          "local columns while messages travel, then product with remote columns; split_temporary: "
          "the remote product goes to a "
          "separate vector that is added at the end, and with several threads one of them waits "
          "for the messages and computes it (not in simulations). On a device: early_launch is "
          "split with messages that start after the local product is launched; split_temporary "
          "does the same with one stream per product (schemes of figure 12 of the report: a is "
          "split, b early_launch, c split_temporary)",
          {"none", "split", "split_temporary", "early_launch"}),
      Parameter::one_of("columns", "stored",
                        "storage of column indices. stored: 4 bytes per nonzero; shared: rows "
                        "whose local columns have the same offsets, such as rows of a stencil, "
                        "share one list (index compression); not with memory=device",
                        {"stored", "shared"}),
  };
  for (auto& one : memory_parameters(false)) all.push_back(std::move(one));
  return all;
}

}  // namespace halobench

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
       "stencil on a square or cube (2d5, 2d9, 3d7, 3d27), random (see row_length, bandwidth), "
       "power_law (see row_length), or a Matrix Market file: NAME.mtx, NAME.mtx.gz, or a "
       "NAME.tar.gz that contains it"},
      {"n", integer, "100",
       "stencil: grid points along each axis; random, power_law: rows; file: set by the file", "",
       1, 1e15},
      {"row_length", integer, "27",
       "random, power_law: (mean) nonzeros per row, at most the columns within the bandwidth; "
       "file: their rounded mean",
       "", 1, 1e9},
      {"bandwidth", integer, "0",
       "random: largest distance of a column from the diagonal; 0: no limit", "", 0, 1e15},
      {"partition", text, "rows",
       "items distributed evenly over ranks and threads: rows or nonzeros; for a Matrix Market "
       "file also graph: METIS minimises connections between ranks and renumbers rows"},
      Parameter::one_of(
          "overlap", "split",
          "none: messages, then product; split: product with local columns while messages travel, "
          "then product with remote columns; split_temporary: the remote product goes to a "
          "separate vector that is added at the end, and with several threads one of them waits "
          "for the messages and computes it (not in simulations). On a device: early_launch is "
          "split with messages that start after the local product is launched; split_temporary "
          "does the same with one stream per product (schemes of figure 12 of the report: a is "
          "split, b early_launch, c split_temporary)",
          {"none", "split", "split_temporary", "early_launch"}),
      Parameter::one_of(
          "columns", "stored",
          "stored: 4 bytes per nonzero; shared: rows whose local columns have the same offsets "
          "share one list of them (index compression), such as rows of a stencil; not with "
          "memory=device",
          {"stored", "shared"}),
  };
  for (auto& one : memory_parameters(false)) all.push_back(std::move(one));
  return all;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fft_pencil/settings.hpp"

#include <algorithm>
#include <limits>

namespace halobench::fft {
namespace {

constexpr std::int64_t most_points = std::int64_t{1} << 44;

void parse_size(const std::string& text, Pencils& pencils, std::vector<Problem>& problems) {
  const auto size = parse_extents(text);
  const auto points = size ? volume(*size) : std::nullopt;
  if (!size) {
    problems.push_back({"size", text, "give points along x, y, and z, such as 256x256x256"});
  } else if (!points || *points > most_points) {
    problems.push_back({"size", text, "give at most 2^44 points"});
  } else {
    pencils.size = *size;
  }
}

/// Ranks in rows and columns, from a word or from numbers; nothing if the text is neither.
std::optional<Extents> parse_grid(const std::string& text, std::int64_t ranks,
                                  const Pencils& pencils) {
  const bool slabs = ranks <= std::min(pencils.size[0], pencils.size[1]);
  if (text == "rows" || (text == "auto" && slabs)) return Extents{ranks, 1, 1};
  if (text == "columns") return Extents{1, ranks, 1};
  if (text == "even" || text == "auto") return most_even(ranks, 2);
  const auto grid = parse_extents(text);
  return grid && (*grid)[2] == 1 ? grid : std::nullopt;
}

void parse_topology(const std::string& text, std::int64_t ranks, Pencils& pencils,
                    std::vector<Problem>& problems) {
  const auto asked = parse_grid(text, ranks, pencils);
  if (!asked) {
    problems.push_back(
        {"topology", text,
         "give auto, rows, columns, even, or ranks in rows and columns, such as 4x2"});
    return;
  }
  const auto& grid = *asked;
  if (const auto wrong = other_ranks(grid, ranks)) {
    problems.push_back({"topology", text, *wrong + ", or auto, rows, columns, even"});
    return;
  }
  pencils.rows = grid[0];
  pencils.columns = grid[1];
  const auto most_rows = std::min(pencils.size[0], pencils.size[1]);
  const auto most_columns = std::min(pencils.size[1], pencils.half());
  if (pencils.rows > most_rows || pencils.columns > most_columns) {
    problems.push_back({"topology", pencils.topology(),
                        "an array of " + to_string(pencils.size) + " has pencils for at most " +
                            std::to_string(most_rows) + " rows and " +
                            std::to_string(most_columns) +
                            " columns of ranks; use fewer ranks or a larger size"});
  }
}

/// Groups of planes: enough that the first travel while others are transformed, and in each a plane
/// for every thread.
std::int64_t usual_chunks(const Pencils& pencils, std::int64_t threads) {
  return std::clamp<std::int64_t>(pencils.size[0] / pencils.rows / threads, 1, 8);
}

/// A rank's own part of an array is sent from, and received into, one buffer: its places are
/// counted in ints.
void check_counts(const Pencils& pencils, std::vector<Problem>& problems) {
  const auto y_pencil = pencils.x(0).size() * pencils.size[1] * pencils.kz(0).size();
  const auto z_pencil = pencils.x(0).size() * pencils.y(0).size() * pencils.half();
  const auto x_pencil = pencils.size[0] * pencils.ky(0).size() * pencils.kz(0).size();
  const auto most = std::max({x_pencil, y_pencil, z_pencil});
  if (most <= std::numeric_limits<int>::max()) return;
  problems.push_back({"size", to_string(pencils.size),
                      std::to_string(most) + " coefficients on a rank: the limit of MPI counts is "
                                             "2^31 - 1; use more ranks or a smaller size"});
}

}  // namespace

std::vector<Parameter> parameters() {
  using enum Parameter::Type;
  return {
      {"size", text, "128x128x128", "grid points along x, y, and z"},
      {"topology", text, "auto",
       "grid of ranks as rows x columns, such as 4x2; rows divide x, and columns divide y. rows or "
       "columns: all ranks in that direction; even: as square as possible; auto: rows (slabs) if "
       "there is a plane for every rank, otherwise even"},
      Parameter::one_of(
          "transpose", "pipelined",
          "how data are transposed. alltoallv: one MPI_Alltoallv per transpose; pairwise: "
          "MPI_Sendrecv with each rank in turn; pipelined: some groups of planes are sent while "
          "others are transformed",
          {"alltoallv", "pairwise", "pipelined"}),
      Parameter::one_of("layout", "blocked",
                        "order of operations. blocked: transform blocks of lines that fit the "
                        "cache and copy them to the send buffer; strided: transform whole arrays "
                        "in place, with separate packing and unpacking",
                        {"blocked", "strided"}),
      {"chunks", integer, "0",
       "number of groups of planes with transpose=pipelined (otherwise 1); 0: up to 8, each with "
       "at least one plane per thread",
       "", 0, 1 << 16},
      Parameter::one_of("planning", "measure",
                        "how thoroughly FFTW searches for the fastest algorithm before timing; "
                        "estimate: without measurements",
                        {"estimate", "measure", "patient"}),
  };
}

Settings parse_settings(const Params& params, const Shape& shape, std::vector<Problem>& problems) {
  Settings settings{{},
                    params.chosen<Transpose>("transpose"),
                    params.chosen<Layout>("layout"),
                    params.chosen<Planning>("planning")};
  auto& pencils = settings.pencils;
  parse_size(params.text("size"), pencils, problems);
  if (!problems.empty()) return settings;
  parse_topology(params.text("topology"), shape.ranks, pencils, problems);
  if (!problems.empty()) return settings;
  check_counts(pencils, problems);
  if (settings.transpose == Transpose::pipelined) {
    const auto asked = params.integer("chunks");
    pencils.chunks =
        asked > 0 ? std::min(asked, pencils.size[0]) : usual_chunks(pencils, shape.threads);
  }
  return settings;
}

}  // namespace halobench::fft

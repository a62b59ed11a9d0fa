// SPDX-License-Identifier: BSD-3-Clause
// Binary matrix files for tests: right ones, and, changed before they are written, wrong ones.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"
#include "mpi/communicator.hpp"
#include "numerics/sparse/sparse_rows.hpp"

namespace expect {

/// What is in a file, as numbers. The checksum is right unless another is given.
struct MatrixBytes {
  std::string magic = "HALOCSR2";
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  std::int64_t symmetric = 0;
  std::int64_t parts = 0;
  std::uint64_t checksum_off_by = 0;
  std::vector<std::int64_t> part_begins;
  std::vector<std::int64_t> begins{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;

  /// Those of a generated matrix, a third of each, so that sums are not exact.
  explicit MatrixBytes(const halobench::SparseRows& matrix, std::vector<std::int64_t> cut = {})
      : rows(matrix.rows()),
        symmetric(matrix.symmetric() ? 1 : 0),
        parts(cut.empty() ? 0 : std::ssize(cut) - 1),
        part_begins(std::move(cut)) {
    matrix.visit({0, rows}, [&](std::int64_t, std::span<const halobench::Entry> entries) {
      for (const auto& [column, value] : entries) {
        columns.push_back(column);
        values.push_back(value / 3);
      }
      begins.push_back(std::ssize(columns));
    });
    nonzeros = std::ssize(columns);
  }

  /// The bytes that src/haloscope/run/prepare/matrices.py writes.
  std::string text() const {
    constexpr std::size_t checksum_at = 5;
    std::vector<std::uint64_t> words(1);
    std::memcpy(words.data(), magic.data(), sizeof words[0]);
    for (const auto number : {rows, nonzeros, symmetric, parts, std::int64_t{0}}) {
      words.push_back(static_cast<std::uint64_t>(number));
    }
    for (const auto* numbers : {&part_begins, &begins, &columns}) {
      words.insert(words.end(), numbers->begin(), numbers->end());
    }
    for (const auto value : values) words.push_back(std::bit_cast<std::uint64_t>(value));
    auto checksum = checksum_off_by;
    for (std::size_t k = 0; k < words.size(); ++k) checksum += (2 * k + 1) * words[k];
    words[checksum_at] = checksum;
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
  }
};

/// A folder and a name for --files and matrix=, the same on every rank, written by rank 0.
class MatrixFolder {
 public:
  explicit MatrixFolder(const halobench::Communicator& comm) : comm_(comm), own_() {
    std::string path = own_.path();
    path.resize(200, '\0');
    halobench::check(MPI_Bcast(path.data(), 200, MPI_CHAR, 0, comm.handle()), "MPI_Bcast");
    path_ = path.c_str();
  }

  std::filesystem::path path() const { return path_; }
  void write(const std::string& ending, const std::string& text) {
    if (comm_.rank() == 0) std::ofstream(path_ + ending, std::ios::binary) << text;
    comm_.barrier();
    written_.push_back(path_ + ending);
  }
  ~MatrixFolder() {
    comm_.barrier();
    for (const auto& path : written_) {
      if (comm_.rank() == 0) std::filesystem::remove(path);
    }
  }
  MatrixFolder(const MatrixFolder&) = delete;
  MatrixFolder& operator=(const MatrixFolder&) = delete;

 private:
  const halobench::Communicator& comm_;
  File own_;
  std::string path_;
  std::vector<std::string> written_;
};

}  // namespace expect

// SPDX-License-Identifier: BSD-3-Clause
// A square sparse matrix in a binary file, made from a Matrix Market file before the launch
// (src/haloscope/run/prepare/matrices.py writes it). Every rank reads its own rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numerics/sparse/sparse_rows.hpp"

namespace halobench {

/// 64-bit little-endian numbers, one after another: "HALOCSR2", rows, nonzeros, 1 where symmetric,
/// parts P, checksum; where each part's rows begin, P + 1 numbers; where each row begins, rows + 1
/// numbers; all columns, ascending in each row; all values as real numbers. P is 0, with nothing
/// for parts, where rows are in their own order, else they are in the order of the parts. The
/// checksum is the sum of (2 k + 1) w_k modulo 2^64 over all other numbers w_k, the k-th of the
/// file, as they are in memory: other bits anywhere, or two numbers exchanged, and it differs.
class MatrixFile : public SparseRows {
 public:
  static constexpr const char* how_to_make =
      "give haloscope the Matrix Market file again, to convert it anew";

  /// Throws UsageError if the file is missing, or its header and parts do not describe a matrix
  /// that fills it.
  explicit MatrixFile(const std::string& path);
  MatrixFile(const MatrixFile&) = delete;
  MatrixFile& operator=(const MatrixFile&) = delete;

  /// What is wrong with some rows (empty: nothing), and what they add to the checksum; the first
  /// row adds header and parts. Several threads may check at once.
  struct Checked {
    std::string problem;
    std::uint64_t checksum = 0;
  };
  Checked check(Range rows) const;
  std::uint64_t checksum() const { return checksum_; }
  const std::string& path() const { return path_; }

  std::int64_t rows() const override { return rows_; }
  double nonzeros() const override { return static_cast<double>(nonzeros_); }
  bool symmetric() const override { return symmetric_; }
  bool whole() const override { return false; }
  /// Rows that check() had nothing to say of.
  void visit(Range rows, const RowVisitor& visitor) const override;

  /// First row of each part; empty without parts.
  const std::vector<std::int64_t>& parts() const { return parts_; }

 private:
  class Descriptor {
   public:
    explicit Descriptor(const std::string& path);
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return number_; }

   private:
    int number_;
  };

  void read_header();
  void read_parts(std::int64_t parts);
  std::string check_begins(Range rows, const std::vector<std::int64_t>& begins) const;
  std::string check_entries(Range rows, const std::vector<std::int64_t>& begins,
                            std::uint64_t& checksum) const;
  [[noreturn]] void refuse(const std::string& what) const;
  std::vector<std::int64_t> numbers(std::int64_t first, std::int64_t count) const;
  void read(std::int64_t first, void* into, std::int64_t count) const;

  std::string path_;
  Descriptor file_;
  std::int64_t rows_ = 0;
  std::int64_t nonzeros_ = 0;
  bool symmetric_ = false;
  std::uint64_t checksum_ = 0;
  std::uint64_t checksum_of_top_ = 0;  ///< of header and parts
  std::vector<std::int64_t> parts_;
  std::int64_t begins_ = 0;   ///< where in the file, in numbers, rows begin ...
  std::int64_t columns_ = 0;  ///< ... columns ...
  std::int64_t values_ = 0;   ///< ... and values
};

}  // namespace halobench

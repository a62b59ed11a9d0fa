// A square sparse matrix in a binary file, made from a Matrix Market file before the launch
// (src/haloscope/run/matrices.py writes it). Every rank reads its own rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "numerics/sparse_rows.hpp"

namespace halobench {

/// 64-bit little-endian numbers, one after another: "HALOCSR1", rows, nonzeros, 1 where symmetric,
/// parts P; where each part's rows begin, P + 1 numbers; where each row begins, rows + 1 numbers;
/// all columns, ascending in each row; all values as real numbers. P is 0, with nothing for parts,
/// where rows are in their own order, else they are in the order of the parts.
class MatrixFile : public SparseRows {
 public:
  /// Throws UsageError where there is no such file, or another one.
  explicit MatrixFile(const std::string& path);
  ~MatrixFile() override;
  MatrixFile(const MatrixFile&) = delete;
  MatrixFile& operator=(const MatrixFile&) = delete;

  std::int64_t rows() const override { return rows_; }
  double nonzeros() const override { return static_cast<double>(nonzeros_); }
  bool symmetric() const override { return symmetric_; }
  bool whole() const override { return false; }
  void visit(Range rows, const RowVisitor& visitor) const override;

  /// Where each part's rows begin; empty where there are no parts.
  const std::vector<std::int64_t>& parts() const { return parts_; }

 private:
  std::vector<std::int64_t> numbers(std::int64_t first, std::int64_t count) const;
  void read(std::int64_t first, void* into, std::int64_t count) const;

  std::string path_;
  int file_;
  std::int64_t rows_ = 0;
  std::int64_t nonzeros_ = 0;
  bool symmetric_ = false;
  std::vector<std::int64_t> parts_;
  std::int64_t begins_ = 0;   ///< where in the file, in numbers, rows begin ...
  std::int64_t columns_ = 0;  ///< ... columns ...
  std::int64_t values_ = 0;   ///< ... and values
};

}  // namespace halobench

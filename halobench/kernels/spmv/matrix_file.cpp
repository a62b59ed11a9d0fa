// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spmv/matrix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>

#include "base/as_size.hpp"
#include "base/usage_error.hpp"

namespace halobench {
namespace {

constexpr std::int64_t bytes_of_a_number = 8;
constexpr std::int64_t header_numbers = 6;
constexpr std::size_t checksum_place = 5;
constexpr std::int64_t rows_at_once = 4096;
constexpr std::int64_t entries_at_once = 1 << 14;  ///< of a row, which may be long

std::uint64_t bits(std::int64_t number) { return static_cast<std::uint64_t>(number); }
std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number); }

/// What numbers add to the checksum, the first of them at a place of the file.
template <class Number>
std::uint64_t weighted(std::span<const Number> numbers, std::int64_t first) {
  std::uint64_t sum = 0;
  auto weight = 2 * bits(first) + 1;
  for (const auto number : numbers) {
    sum += weight * bits(number);
    weight += 2;
  }
  return sum;
}

std::string text(std::int64_t number) { return std::to_string(number); }

/// Columns and values of rows, read a piece at a time.
struct Piece {
  std::vector<std::int64_t> columns = std::vector<std::int64_t>(as_size(entries_at_once));
  std::vector<double> values = std::vector<double>(as_size(entries_at_once));
};

}  // namespace

// A file of another kind might be a pipe, which must not be waited for.
MatrixFile::Descriptor::Descriptor(const std::string& path)
    : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

MatrixFile::Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

MatrixFile::MatrixFile(const std::string& path) : path_(path), file_(path) {
  static_assert(std::endian::native == std::endian::little);
  if (file_.get() < 0) refuse("cannot be read");
  read_header();
}

void MatrixFile::read_header() {
  struct stat status{};
  if (fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) refuse("is not a file");
  const std::int64_t size = status.st_size / bytes_of_a_number;
  if (size < header_numbers) refuse("not a matrix file, or truncated");
  const auto header = numbers(0, header_numbers);
  if (std::memcmp(header.data(), "HALOCSR2", 8) != 0)
    refuse("not a matrix file, or another version");
  rows_ = header[1];
  nonzeros_ = header[2];
  const auto parts = header[4];
  const auto counted = [&](const char* name, std::int64_t count, std::int64_t least) {
    if (count >= least && count <= size) return;  // so that no sum of them is too large
    refuse("its header claims " + text(count) + name + ", in " + text(status.st_size) + " bytes");
  };
  counted(" rows", rows_, 1);
  counted(" nonzeros", nonzeros_, 1);
  counted(" parts", parts, 0);
  if (header[3] != 0 && header[3] != 1)
    refuse("says " + text(header[3]) + " for symmetric; expected 0 or 1");
  symmetric_ = header[3] == 1;
  begins_ = header_numbers + (parts > 0 ? parts + 1 : 0);
  columns_ = begins_ + rows_ + 1;
  values_ = columns_ + nonzeros_;
  const auto expected = (values_ + nonzeros_) * bytes_of_a_number;
  if (status.st_size != expected) {
    refuse("has " + text(status.st_size) + " bytes, not the " + text(expected) +
           " of its header: truncated or damaged");
  }
  checksum_ = bits(header[checksum_place]);
  checksum_of_top_ = weighted(std::span(header).first(checksum_place), 0);
  if (parts > 0) read_parts(parts);
}

void MatrixFile::read_parts(std::int64_t parts) {
  parts_ = numbers(header_numbers, parts + 1);
  checksum_of_top_ += weighted(std::span<const std::int64_t>(parts_), header_numbers);
  if (parts_.front() != 0 || parts_.back() != rows_ || !std::ranges::is_sorted(parts_)) {
    refuse("its parts do not increase from row 0 to row " + text(rows_));
  }
}

MatrixFile::Checked MatrixFile::check(Range rows) const {
  Checked checked{"", rows.begin == 0 ? checksum_of_top_ : 0};
  if (rows.size() == 0) return checked;
  const auto begins = numbers(begins_ + rows.begin, rows.size() + 1);
  const bool last = rows.end == rows_;
  checked.checksum +=
      weighted(std::span(begins).first(begins.size() - (last ? 0 : 1)), begins_ + rows.begin);
  checked.problem = check_begins(rows, begins);
  if (checked.problem.empty()) checked.problem = check_entries(rows, begins, checked.checksum);
  return checked;
}

std::string MatrixFile::check_begins(Range rows, const std::vector<std::int64_t>& begins) const {
  if (rows.begin == 0 && begins.front() != 0) {
    return "row 0 begins at nonzero " + text(begins.front()) + ", not 0";
  }
  if (rows.end == rows_ && begins.back() != nonzeros_) {
    return "the last row ends at nonzero " + text(begins.back()) + ", not " + text(nonzeros_);
  }
  const auto fall = std::ranges::adjacent_find(begins, std::greater<>());
  if (fall != begins.end()) {
    return "row " + text(rows.begin + (fall - begins.begin())) + " ends before it begins";
  }
  if (begins.front() >= 0 && begins.back() <= nonzeros_) return {};
  return "some rows from row " + text(rows.begin) + " are beyond the nonzeros";
}

std::string MatrixFile::check_entries(Range rows, const std::vector<std::int64_t>& begins,
                                      std::uint64_t& checksum) const {
  Piece piece;
  std::size_t row = 0;
  std::int64_t last = -1;  // column of this row
  for (auto first = begins.front(); first < begins.back(); first += entries_at_once) {
    const auto count = std::min(begins.back() - first, entries_at_once);
    read(columns_ + first, piece.columns.data(), count);
    read(values_ + first, piece.values.data(), count);
    const auto columns = std::span<const std::int64_t>(piece.columns).first(as_size(count));
    const auto values = std::span<const double>(piece.values).first(as_size(count));
    checksum += weighted(columns, columns_ + first) + weighted(values, values_ + first);
    for (std::size_t k = 0; k < columns.size();) {
      while (begins[row + 1] == first + std::int64_t(k)) ++row, last = -1;
      const auto end = std::min(columns.size(), as_size(begins[row + 1] - first));
      for (; k < end; ++k) {
        if (columns[k] <= last || columns[k] >= rows_ || !std::isfinite(values[k])) {
          const auto where = "row " + text(rows.begin + std::int64_t(row)) + " ";
          if (!std::isfinite(values[k])) return where + "has a value that is not finite";
          return where + "has column " + text(columns[k]) +
                 (columns[k] >= 0 && columns[k] < rows_ ? " after " + text(last)
                                                        : " of " + text(rows_));
        }
        last = columns[k];
      }
    }
  }
  return {};
}

void MatrixFile::visit(Range rows, const RowVisitor& visitor) const {
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  std::vector<Entry> entries;
  for (auto first = rows.begin; first < rows.end; first += rows_at_once) {
    const auto last = std::min(rows.end, first + rows_at_once);
    const auto begins = numbers(begins_ + first, last - first + 1);
    const auto count = begins.back() - begins.front();
    columns.resize(as_size(count));
    values.resize(as_size(count));
    read(columns_ + begins.front(), columns.data(), count);
    read(values_ + begins.front(), values.data(), count);
    std::size_t k = 0;
    for (auto row = first; row < last; ++row) {
      const auto end = begins[as_size(row - first) + 1] - begins.front();
      entries.clear();
      for (; k < as_size(end); ++k) entries.push_back({columns[k], values[k]});
      visitor(row, entries);
    }
  }
}

void MatrixFile::refuse(const std::string& what) const {
  throw UsageError(path_ + ": " + what + "; " + how_to_make);
}

std::vector<std::int64_t> MatrixFile::numbers(std::int64_t first, std::int64_t count) const {
  std::vector<std::int64_t> found(as_size(count));
  read(first, found.data(), count);
  return found;
}

void MatrixFile::read(std::int64_t first, void* into, std::int64_t count) const {
  auto* to = static_cast<char*>(into);
  auto at = first * bytes_of_a_number;
  for (auto left = as_size(count * bytes_of_a_number); left > 0;) {
    const auto got = pread(file_.get(), to, left, at);
    if (got <= 0) throw std::runtime_error(path_ + ": can no longer be read");
    to += got;
    at += got;
    left -= as_size(got);
  }
}

}  // namespace halobench

#include "kernels/spmv/matrix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/as_size.hpp"
#include "base/usage_error.hpp"

namespace halobench {
namespace {

constexpr std::int64_t bytes_of_a_number = 8;
constexpr std::int64_t header_numbers = 5;
constexpr std::int64_t rows_at_once = 4096;

const char* const how_to_make = "give haloscope the Matrix Market file, which makes it anew";

}  // namespace

MatrixFile::MatrixFile(const std::string& path)
    : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  static_assert(std::endian::native == std::endian::little);
  if (file_ < 0) throw UsageError(path_ + ": can't be read; " + how_to_make);
  struct stat status{};
  const bool known = fstat(file_, &status) == 0;
  const auto size = known ? status.st_size / bytes_of_a_number : 0;
  const auto header = size < header_numbers ? std::vector<std::int64_t>(header_numbers)
                                            : numbers(0, header_numbers);
  const auto parts = header[4];
  rows_ = header[1];
  nonzeros_ = header[2];
  symmetric_ = header[3] != 0;
  begins_ = header_numbers + (parts > 0 ? parts + 1 : 0);
  columns_ = begins_ + rows_ + 1;
  values_ = columns_ + nonzeros_;
  if (std::memcmp(header.data(), "HALOCSR1", 8) != 0 || size != values_ + nonzeros_) {
    close(file_);
    throw UsageError(path_ + ": no matrix file, or cut off; " + how_to_make);
  }
  if (parts > 0) parts_ = numbers(header_numbers, parts + 1);
}

MatrixFile::~MatrixFile() { close(file_); }

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

std::vector<std::int64_t> MatrixFile::numbers(std::int64_t first, std::int64_t count) const {
  std::vector<std::int64_t> found(as_size(count));
  read(first, found.data(), count);
  return found;
}

void MatrixFile::read(std::int64_t first, void* into, std::int64_t count) const {
  auto* to = static_cast<char*>(into);
  auto at = first * bytes_of_a_number;
  for (auto left = as_size(count * bytes_of_a_number); left > 0;) {
    const auto got = pread(file_, to, left, at);
    if (got <= 0) throw std::runtime_error(path_ + ": can't be read any more");
    to += got;
    at += got;
    left -= as_size(got);
  }
}

}  // namespace halobench

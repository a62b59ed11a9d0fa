// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a binary matrix: whatever check() has nothing to say of, visit() can read.
//
// Built by hand, as it needs clang; from the checkout:
//   clang++ -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
//     -Ihalobench halobench/tests/fuzz_matrix_file.cpp halobench/kernels/spmv/matrix_file.cpp
//     -o build/fuzz_matrix_file
//   build/fuzz_matrix_file -max_total_time=300 -max_len=8192 FOLDER_OF_MATRICES
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "base/usage_error.hpp"
#include "kernels/spmv/matrix_file.hpp"

using namespace halobench;

namespace {

/// The checksum is not asked: the fuzzer would never guess it.
bool right(const MatrixFile& file, std::int64_t shares) {
  for (std::int64_t part = 0; part < shares; ++part) {
    const auto rows = share({0, file.rows()}, shares, part);
    if (rows.size() > 0 && !file.check(rows).problem.empty()) return false;
  }
  return true;
}

void read_all(const MatrixFile& file) {
  double nonzeros = 0;
  file.visit({0, file.rows()}, [&](std::int64_t, std::span<const Entry> entries) {
    std::int64_t last = -1;
    for (const auto& [column, value] : entries) {
      if (column <= last || column >= file.rows() || !std::isfinite(value)) std::abort();
      last = column;
      ++nonzeros;
    }
  });
  if (nonzeros != file.nonzeros()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int memory = memfd_create("matrix", 0);
  if (write(memory, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const MatrixFile file("/proc/self/fd/" + std::to_string(memory));
    const bool good = right(file, 1);
    if (right(file, 3) != good) std::abort();  // whoever looks sees the same
    if (good) read_all(file);
  } catch (const UsageError&) {
  }
  close(memory);
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fft_pencil/blocks.hpp"

#include <algorithm>

#include "base/as_size.hpp"
#include "base/prefetch.hpp"

namespace halobench::fft {
namespace {

constexpr std::int64_t in_a_cache_line = 4;       ///< coefficients
constexpr std::int64_t block_bytes = 128 * 1024;  ///< twice, in a second cache of 512 KiB or more
constexpr std::int64_t fewest_lines = 8;
constexpr std::int64_t most_lines = 32;

std::int64_t cache_lines(std::int64_t coefficients) {
  return (coefficients + in_a_cache_line - 1) / in_a_cache_line;
}

}  // namespace

// An odd number of cache lines from one line to the next: were it a power of two, as sizes often
// are, equal points of all lines would share few places in the caches.
Blocks::Blocks(std::int64_t lines, std::int64_t size)
    : lines_(lines), size_(size), pitch_((cache_lines(size) | 1) * in_a_cache_line) {
  const auto fit = block_bytes / static_cast<std::int64_t>(sizeof(Complex)) / size;
  width_ = std::clamp(fit / in_a_cache_line * in_a_cache_line, fewest_lines, most_lines);
  count_ = (lines + width_ - 1) / width_;
}

Range Blocks::lines(std::int64_t block) const {
  return {std::min(block * width_, lines_), std::min((block + 1) * width_, lines_)};
}

void Blocks::plan(Complex* memory, Planning planning) {
  const auto planned = [&](const Range& lines, auto&& make) {
    return make({size_, lines.size(), {1, pitch_}, {1, pitch_}}, memory, memory + half(), planning);
  };
  const auto widest = lines(0);
  const auto last = lines(count_ - 1);
  forward_.wide = planned(widest, FftwPlan::forward);
  backward_.wide = planned(widest, FftwPlan::backward);
  if (last.size() == widest.size()) return;
  forward_.narrow = planned(last, FftwPlan::forward);
  backward_.narrow = planned(last, FftwPlan::backward);
}

// Whole pieces of rows in turn, not line by line: rows come from far, lines are in the cache.
void Blocks::gather(std::int64_t block, const Complex* rows, std::int64_t stride,
                    const Range& points, Complex* memory) const {
  const auto taken = lines(block);
  const auto width = taken.size();
  const auto next_bytes = sizeof(Complex) * as_size(lines(block + 1).size());
  const auto* row = rows + taken.begin;
  for (auto point = points.begin; point < points.end; ++point, row += stride) {
    prefetch<Soon::read>(row + width, next_bytes);
    for (std::int64_t line = 0; line < width; ++line) memory[line * pitch_ + point] = row[line];
  }
}

void Blocks::scatter(std::int64_t block, const Complex* memory, Complex* rows, std::int64_t stride,
                     const Range& points) const {
  const auto given = lines(block);
  const auto width = given.size();
  const auto* transformed = memory + half();
  auto* row = rows + given.begin;
  for (auto point = points.begin; point < points.end; ++point, row += stride) {
    for (std::int64_t line = 0; line < width; ++line) {
      row[line] = transformed[line * pitch_ + point];
    }
  }
}

void Blocks::run(const Plans& plans, std::int64_t block, Complex* memory) const {
  const bool wide = lines(block).size() == lines(0).size();
  (wide ? plans.wide : plans.narrow).run(memory, memory + half());
}

}  // namespace halobench::fft

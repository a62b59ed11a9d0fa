// SPDX-License-Identifier: BSD-3-Clause
// Lines along an axis, a block at a time: brought together, transformed, brought back.
#pragma once

#include "kernels/fft_pencil/pencils.hpp"
#include "numerics/fftw.hpp"

namespace halobench::fft {

/// Lines along an axis, of which an array's rows have one point each, taken a block at a time: all
/// blocks are of one width but for the last.
///
/// The memory that a block is transformed in has room for it twice, as it came and transformed;
/// there each line's points lie next to each other. FFTW takes such lines in half of the time that
/// it takes for lines whose points lie in columns: it copies those itself, in front and behind.
class Blocks {
 public:
  Blocks() = default;
  /// `lines` next to each other, of `size` points.
  Blocks(std::int64_t lines, std::int64_t size);

  std::int64_t count() const { return count_; }
  /// Coefficients of the memory that the widest is transformed in.
  std::int64_t values() const { return 2 * half(); }

  /// Plans with `memory`, of values() coefficients, one direction or the other.
  void plan(Complex* memory, Planning planning);

  /// Some points of a block's lines, from as many rows, `stride` coefficients apart. The values
  /// of the next block are prefetched.
  void gather(std::int64_t block, const Complex* rows, std::int64_t stride, const Range& points,
              Complex* memory) const;
  void forward(std::int64_t block, Complex* memory) const { run(forward_, block, memory); }
  void backward(std::int64_t block, Complex* memory) const { run(backward_, block, memory); }
  /// As gather, the other way.
  void scatter(std::int64_t block, const Complex* memory, Complex* rows, std::int64_t stride,
               const Range& points) const;

 private:
  struct Plans {
    FftwPlan wide;
    FftwPlan narrow;
  };
  /// The lines of a block; none of one beyond the last.
  Range lines(std::int64_t block) const;
  std::int64_t half() const { return lines(0).size() * pitch_; }
  void run(const Plans& plans, std::int64_t block, Complex* memory) const;

  std::int64_t lines_ = 0;
  std::int64_t size_ = 0;
  std::int64_t width_ = 1;
  std::int64_t count_ = 0;
  std::int64_t pitch_ = 0;  ///< from a line in memory to the next
  Plans forward_;
  Plans backward_;
};

}  // namespace halobench::fft

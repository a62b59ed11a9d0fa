// SPDX-License-Identifier: BSD-3-Clause
// Several sweeps in one pass over memory, in skewed blocks that stay in a core's second cache.
//
// Both meshes are written in turn, and blocks of rows are skewed: in each sweep a block lies one
// row lower (time skewing; D. Wonnacott, Using time skewing to eliminate idle time due to memory
// bandwidth and network limitations, IPDPS 2000). Within a block, as soon as a sweep has done plane
// x, the next one does plane x - 1 of its result (a wavefront; M. Wittmann, G. Hager, and others,
// Multicore-aware parallel temporal blocking of stencil codes, 2010). What a sweep needs of the
// block below was computed there, and not yet overwritten: the sweep after next ends one row below.
// Nothing is computed twice. Threads take blocks in turn; a block follows the one below it.
//
// A pass may stop at any front and go on from there: what later fronts read, earlier ones have not
// overwritten, whichever block they are of. So all blocks do some fronts before any does the next
// ones: the rows of the block below are still in the last cache then. Two fronts are done at a
// time, since two planes side by side share what is loaded.
#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "base/as_size.hpp"
#include "kernels/jacobi3d/sweeper.hpp"
#include "machine/cache.hpp"

namespace halobench::jacobi {
namespace {

template <class Value>
class Wavefront : public Sweeper<Value> {
 public:
  explicit Wavefront(const Setting& setting) : setting_(setting) {}

  void advance(const std::array<Mesh<Value>, 2>& meshes, std::span<const Box> targets,
               std::int64_t part, std::int64_t parts) override {
    const auto sweeps = std::ssize(targets);
    const Box& first = targets.front();
    const Box& last = targets.back();
    const auto row_bytes = meshes[0].storage.row() * static_cast<std::int64_t>(sizeof(Value));
    const Pass pass{meshes, targets, rows_of_block(row_bytes)};
    const auto fronts = share({first[0].begin + 1, last[0].end + sweeps}, parts, part);
    const auto together = fronts_together(pass.rows, row_bytes);
    const auto rows = std::max(first[1].end, last[1].end + sweeps - 1) - first[1].begin;
    const auto blocks = (rows + pass.rows - 1) / pass.rows;
    std::vector<Front> done(as_size(blocks));
    for (auto front = fronts.begin; front < fronts.end; front += together) {
      const Range some{front, std::min(front + together, fronts.end)};
#pragma omp parallel for schedule(static, 1) num_threads(static_cast<int>(setting_.threads))
      for (std::int64_t block = 0; block < blocks; ++block) {
        follow(pass, some, first[1].begin + block * pass.rows,
               block == 0 ? nullptr : &done[as_size(block - 1)], done[as_size(block)]);
      }
    }
  }

 private:
  struct Pass {
    const std::array<Mesh<Value>, 2>& meshes;
    std::span<const Box> targets;
    std::int64_t rows;  ///< of a block
  };

  /// How far a block is: the last front that is done. Alone in its cache line.
  struct alignas(line_bytes) Front {
    std::atomic<std::int64_t> at{std::numeric_limits<std::int64_t>::min()};
  };

  /// As many as half of a core's second cache holds of the planes of both meshes that a front
  /// touches.
  std::int64_t rows_of_block(std::int64_t row_bytes) const {
    constexpr std::int64_t least = 6;
    return std::max(least, rows_in_second_cache(2 * (setting_.depth + 2), row_bytes));
  }

  /// As many as leave what a block reads of both meshes in a third of a core's share of the last
  /// cache, until the next block needs it; all where so few would cost more than they save.
  std::int64_t fronts_together(std::int64_t rows, std::int64_t row_bytes) const {
    const auto depth = setting_.depth;
    const auto planes = last_cache_share_bytes() / 3 / (2 * (rows + depth) * row_bytes);
    const auto fronts = (planes - depth) / 2 * 2;  // even
    return fronts < 2 * depth ? std::numeric_limits<std::int64_t>::max() / 2 : fronts;
  }

  /// Some fronts of a block whose first sweep begins at row y, behind the block below it.
  static void follow(const Pass& pass, const Range& fronts, std::int64_t y, const Front* below,
                     Front& own) {
    for (auto front = fronts.begin; front < fronts.end; front += 2) {
      while (below != nullptr && below->at.load(std::memory_order_acquire) < front) {
        std::this_thread::yield();
      }
      const auto end = std::min(front + 2, fronts.end);
      for (std::int64_t sweep = 1; sweep <= std::ssize(pass.targets); ++sweep) {
        do_planes(pass, sweep, {front - sweep, end - sweep}, y - (sweep - 1));
      }
      own.at.store(front, std::memory_order_release);
    }
  }

  /// One or two planes of a sweep's result, the rows of a block that begin at row y.
  static void do_planes(const Pass& pass, std::int64_t sweep, const Range& x, std::int64_t y) {
    const Box& target = pass.targets[as_size(sweep - 1)];
    const Range planes{std::max(x.begin, target[0].begin), std::min(x.end, target[0].end)};
    const Range rows{std::max(y, target[1].begin), std::min(y + pass.rows, target[1].end)};
    const auto z = target[2];
    const auto& from = pass.meshes[as_size((sweep - 1) % 2)];
    const auto& to = pass.meshes[as_size(sweep % 2)];
    for (auto row = rows.begin; row < rows.end; ++row) {
      const auto out = [&](std::int64_t plane) { return to.at(plane, row, z.begin); };
      const auto low = from.planes(planes.begin, row);
      if (planes.size() == 1) relax(out(planes.begin), low, z.begin, z.size());
      if (planes.size() == 2) {
        relax_two<Value, Stores::plain>({out(planes.begin), out(planes.begin + 1)}, low,
                                        from.at(planes.begin + 2, row, 0), z.begin, z.size());
      }
    }
  }

  Setting setting_;
};

template <class Value>
std::unique_ptr<Sweeper<Value>> make(const Setting& setting) {
  return std::make_unique<Wavefront<Value>>(setting);
}

}  // namespace

Variant temporal() { return {"temporal", true, 4, make<double>, make<float>}; }

}  // namespace halobench::jacobi

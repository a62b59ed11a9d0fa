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
// overwritten, whichever block they are of.
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
    const Pass pass{meshes, targets, rows_of_block(meshes[0].storage.row()),
                    share({first[0].begin + 1, last[0].end + sweeps}, parts, part)};
    const auto rows = std::max(first[1].end, last[1].end + sweeps - 1) - first[1].begin;
    const auto blocks = (rows + pass.rows - 1) / pass.rows;
    std::vector<Front> done(as_size(blocks));
#pragma omp parallel for schedule(static, 1) num_threads(static_cast<int>(setting_.threads))
    for (std::int64_t block = 0; block < blocks; ++block) {
      follow(pass, first[1].begin + block * pass.rows,
             block == 0 ? nullptr : &done[as_size(block - 1)], done[as_size(block)]);
    }
  }

 private:
  struct Pass {
    const std::array<Mesh<Value>, 2>& meshes;
    std::span<const Box> targets;
    std::int64_t rows;  ///< of a block
    Range fronts;
  };

  /// How far a block is: the last front that is done. Alone in its cache line.
  struct alignas(line_bytes) Front {
    std::atomic<std::int64_t> at{std::numeric_limits<std::int64_t>::min()};
  };

  /// As many as half of a core's second cache holds of the planes of both meshes that a front
  /// touches.
  std::int64_t rows_of_block(std::int64_t row) const {
    constexpr std::int64_t usual = 1 << 20;
    constexpr std::int64_t least = 8;
    const auto cache = second_cache_share_bytes();
    const auto half = (cache == 0 ? usual : cache) / 2;
    const auto planes = 2 * (setting_.depth + 2);
    return std::max(least, half / (planes * row * static_cast<std::int64_t>(sizeof(Value))));
  }

  /// All fronts of a block whose first sweep begins at row y, behind the block below it.
  static void follow(const Pass& pass, std::int64_t y, const Front* below, Front& own) {
    for (std::int64_t front = pass.fronts.begin; front < pass.fronts.end; ++front) {
      while (below != nullptr && below->at.load(std::memory_order_acquire) < front) {
        std::this_thread::yield();
      }
      for (std::int64_t sweep = 1; sweep <= std::ssize(pass.targets); ++sweep) {
        do_plane(pass, sweep, front - sweep, y - (sweep - 1));
      }
      own.at.store(front, std::memory_order_release);
    }
  }

  /// Plane x of a sweep's result, the rows of a block that begin at row y.
  static void do_plane(const Pass& pass, std::int64_t sweep, std::int64_t x, std::int64_t y) {
    const Box& target = pass.targets[as_size(sweep - 1)];
    if (!target[0].contains(x)) return;
    const auto last = std::min(y + pass.rows, target[1].end);
    const auto z = target[2];
    const auto& from = pass.meshes[as_size((sweep - 1) % 2)];
    const auto& to = pass.meshes[as_size(sweep % 2)];
    for (std::int64_t row = std::max(y, target[1].begin); row < last; ++row) {
      relax(to.at(x, row, z.begin), from.planes(x, row), z.begin, z.size());
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

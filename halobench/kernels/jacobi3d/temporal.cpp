// SPDX-License-Identifier: BSD-3-Clause
// Several sweeps in one pass over memory.
//
// Blocks of rows are swept through plane by plane: as soon as a sweep has done plane x, the next
// one does plane x - 1 of its result, and so on (a wavefront). What lies in between stays in the
// cache, in a ring of planes: a sweep writes its plane x over plane x - 1 of the sweep before,
// which nobody needs any more, so the line that is written is one just read, and two planes a sweep
// are enough. Only the first sweep reads the mesh and only the last one writes it. A sweep's result
// is needed one row and one point beyond what the next one makes of it, so blocks overlap and
// compute these edges twice.
//
// Where all of a box is wanted, and nothing of the mesh it comes from is needed afterwards, nothing
// is computed twice: both meshes are written in turn, and blocks of rows are skewed, one row lower
// in each sweep. What a sweep needs of the block below was computed there, and not yet overwritten:
// the sweep after next ends one row below. The planes between the first sweep's and the last one's
// stay in a core's second cache. Threads take blocks in turn; a block follows the one below it.
#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <thread>

#include "base/as_size.hpp"
#include "kernels/jacobi3d/sweeper.hpp"
#include "machine/cache.hpp"
#include "machine/streaming.hpp"

namespace halobench::jacobi {
namespace {

/// Planes of the ring: the last sweep's stencil spans three, each sweep between adds two.
constexpr std::int64_t ring_planes(std::int64_t depth) { return depth > 1 ? 2 * depth - 1 : 0; }

/// The buffers of one thread, and how many rows of the mesh it works on at a time.
struct Block {
  std::int64_t rows;
  std::int64_t before;  ///< values, and rows, before the block's first
  std::int64_t row;
  std::int64_t plane;

  explicit Block(const Setting& setting) {
    const auto depth = setting.part.depth;
    const std::int64_t per_line = line_bytes / setting.value_bytes;
    before = (depth + per_line - 1) / per_line * per_line;
    row = row_stride(before + setting.part.extents[2] + depth, per_line);
    const auto planes = std::max<std::int64_t>(ring_planes(depth), 1);
    const auto fitting = rows_in_cache(planes, row * setting.value_bytes) - 2 * depth;
    const auto most = std::max(fitting, depth);
    const auto all = setting.part.extents[1];
    const auto blocks = (all + most - 1) / most;
    rows = (all + blocks - 1) / blocks;
    plane = (rows + 2 * depth) * row + per_line;
  }

  std::int64_t memory(std::int64_t depth) const { return ring_planes(depth) * plane; }
};

template <class Value>
class Wavefront : public Sweeper<Value> {
 public:
  Wavefront(const Setting& setting, Memory& memory)
      : part_(setting.part), threads_(setting.threads), block_(setting) {
    for (std::int64_t thread = 0; thread < threads_; ++thread) {
      rings_.push_back(memory.allocate<Value>(block_.memory(part_.depth)));
    }
  }

  void advance(const Mesh<Value>& from, const Mesh<Value>& to, const Box& target,
               std::int64_t sweeps) override {
    in_threads(target, threads_, [&](const Box& box, std::int64_t thread) {
      Pass pass{from, to, box, sweeps, rings_[as_size(thread)].span()};
      for (std::int64_t y = box[1].begin; y < box[1].end; y += block_.rows) {
        pass.block[1] = {y, std::min(y + block_.rows, box[1].end)};
        run(pass);
      }
      end_streaming();
    });
  }

  bool advance_all(const Mesh<Value>& from, const Mesh<Value>& to, const Box& target,
                   std::int64_t sweeps) override {
    const Skewed skewed{{from, to}, target, sweeps, skewed_rows(from.storage.row())};
    const auto [begin, end] = part_.grown(target, sweeps - 1)[1];
    const auto last = target[1].end + sweeps - 1;
    const auto blocks = (std::max(end, last) - begin + skewed.rows - 1) / skewed.rows;
    std::vector<Front> done(as_size(blocks));
#pragma omp parallel for schedule(static, 1) num_threads(static_cast<int>(threads_))
    for (std::int64_t block = 0; block < blocks; ++block) {
      follow(skewed, begin + block * skewed.rows, block == 0 ? nullptr : &done[as_size(block - 1)],
             done[as_size(block)]);
    }
    return sweeps % 2 == 1;
  }

 private:
  /// What a pass over skewed blocks needs to know. meshes: sweep s reads the one and writes the
  /// other, in turn.
  struct Skewed {
    std::array<Mesh<Value>, 2> meshes;
    Box target;
    std::int64_t sweeps;
    std::int64_t rows;
  };

  /// How far a block is: the last front that is done. Alone in its cache line.
  struct alignas(line_bytes) Front {
    std::atomic<std::int64_t> at{std::numeric_limits<std::int64_t>::min()};
  };

  /// Rows of a skewed block: as many as half of a core's second cache holds of the planes of both
  /// meshes that a front touches.
  std::int64_t skewed_rows(std::int64_t row) const {
    constexpr std::int64_t usual = 1 << 20;
    constexpr std::int64_t least = 8;
    const auto cache = second_cache_share_bytes();
    const auto half = (cache == 0 ? usual : cache) / 2;
    const auto planes = 2 * (part_.depth + 2);
    return std::max(least, half / (planes * row * static_cast<std::int64_t>(sizeof(Value))));
  }

  /// All fronts of a block whose first sweep begins at row y, behind the block below it.
  void follow(const Skewed& pass, std::int64_t y, const Front* below, Front& own) const {
    const auto begin = part_.grown(pass.target, pass.sweeps - 1)[0].begin + 1;
    const auto end = pass.target[0].end + pass.sweeps;
    for (std::int64_t front = begin; front < end; ++front) {
      while (below != nullptr && below->at.load(std::memory_order_acquire) < front) {
        std::this_thread::yield();
      }
      for (std::int64_t sweep = 1; sweep <= pass.sweeps; ++sweep) {
        do_skewed(pass, sweep, front - sweep, y - (sweep - 1));
      }
      own.at.store(front, std::memory_order_release);
    }
  }

  /// Plane x of a sweep's result, the rows of a block that begin at row y.
  void do_skewed(const Skewed& pass, std::int64_t sweep, std::int64_t x, std::int64_t y) const {
    const Box needed = part_.grown(pass.target, pass.sweeps - sweep);
    if (!needed[0].contains(x)) return;
    const auto first = std::max(y, needed[1].begin);
    const auto last = std::min(y + pass.rows, needed[1].end);
    const auto z = needed[2];
    const auto& from = pass.meshes[as_size((sweep - 1) % 2)];
    const auto& to = pass.meshes[as_size(sweep % 2)];
    for (std::int64_t row = first; row < last; ++row) {
      relax(to.at(x, row, z.begin), from.planes(x, row), z.begin, z.size());
    }
  }

  struct Pass {
    const Mesh<Value>& from;
    const Mesh<Value>& to;
    Box block;
    std::int64_t sweeps;
    std::span<Value> rings;
  };

  void run(const Pass& pass) const {
    std::ranges::fill(pass.rings, Value{0});  // rows and planes beyond the boundary stay so
    const auto [begin, end] = pass.block[0];
    for (std::int64_t front = begin - pass.sweeps + 1; front < end + pass.sweeps; ++front) {
      for (std::int64_t sweep = 1; sweep <= pass.sweeps; ++sweep) {
        do_plane(pass, sweep, front - sweep + 1);
      }
    }
  }

  /// Plane x of a sweep's result, as far as the later ones need it.
  void do_plane(const Pass& pass, std::int64_t sweep, std::int64_t x) const {
    const bool last = sweep == pass.sweeps;
    const Box needed = part_.grown(pass.block, pass.sweeps - sweep);
    if (x == part_.extents[0] && x == needed[0].end && !last) clear(ring_plane(pass, sweep, x));
    if (!needed[0].contains(x)) return;
    const auto y = needed[1].begin;
    const auto z = needed[2];
    Planes<Value> from = sweep == 1 ? pass.from.planes(x, y) : in_ring(pass, sweep - 1, x, y);
    for (std::int64_t row = y; row < needed[1].end; ++row, from = from.next_row()) {
      if (last) {
        relax_streaming(pass.to.at(x, row, z.begin), from, z.begin, z.size());
      } else {
        Value* out = ring_plane(pass, sweep, x) + in_plane(pass, row);
        relax(out + z.begin, from, z.begin, z.size());
      }
    }
  }

  /// Of a sweep's result, the planes next to plane x, by the address of their point (y, 0).
  Planes<Value> in_ring(const Pass& pass, std::int64_t sweep, std::int64_t x,
                        std::int64_t y) const {
    const auto at = in_plane(pass, y);
    return {ring_plane(pass, sweep, x - 1) + at, ring_plane(pass, sweep, x) + at,
            ring_plane(pass, sweep, x + 1) + at, block_.row};
  }

  /// Where plane x of a sweep's result begins: with plane x - 1 of the sweep before.
  Value* ring_plane(const Pass& pass, std::int64_t sweep, std::int64_t x) const {
    const auto planes = ring_planes(part_.depth);
    const auto slot = (x - (sweep - 1) + 2 * planes) % planes;
    return pass.rings.data() + slot * block_.plane;
  }

  /// From a plane's begin to the point (y, 0).
  std::int64_t in_plane(const Pass& pass, std::int64_t y) const {
    return (y - pass.block[1].begin + part_.depth) * block_.row + block_.before;
  }

  void clear(Value* plane) const { std::fill_n(plane, block_.plane, Value{0}); }

  Part part_;
  std::int64_t threads_;
  Block block_;
  std::vector<Buffer<Value>> rings_;
};

std::int64_t memory(const Setting& setting) {
  return setting.threads * Block(setting).memory(setting.part.depth);
}

template <class Value>
std::unique_ptr<Sweeper<Value>> make(const Setting& setting, Memory& memory) {
  return std::make_unique<Wavefront<Value>>(setting, memory);
}

}  // namespace

Variant temporal() { return {"temporal", true, 2, 4, memory, make<double>, make<float>}; }

}  // namespace halobench::jacobi

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
#include <algorithm>

#include "base/as_size.hpp"
#include "kernels/jacobi3d/sweeper.hpp"
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

 private:
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

Variant temporal() { return {"temporal", true, 2, memory, make<double>, make<float>}; }

}  // namespace halobench::jacobi

// SPDX-License-Identifier: BSD-3-Clause
// One sweep a pass, with ordinary stores or with streaming ones: in blocks of rows, so that a plane
// is read from memory once and not for each of the three planes that need it.
#include <algorithm>

#include "base/streaming.hpp"
#include "kernels/jacobi3d/sweeper.hpp"

namespace halobench::jacobi {
namespace {

/// Three are read and one is written.
constexpr std::int64_t planes_at_a_time = 4;
/// With streaming stores two planes are done at a time: of four that are read, these are new.
constexpr std::int64_t new_planes = 2;

template <class Value, bool streams>
class OneSweep : public Sweeper<Value> {
 public:
  explicit OneSweep(std::int64_t threads) : threads_(threads) {}

  void advance(const std::array<Mesh<Value>, 2>& meshes, std::span<const Box> targets,
               std::int64_t part, std::int64_t parts) override {
    const auto& [from, to] = meshes;
    Box target = targets.front();
    target[0] = share(target[0], parts, part);
    const auto row_bytes = from.storage.row() * static_cast<std::int64_t>(sizeof(Value));
    const auto rows = streams ? rows_in_second_cache(new_planes, row_bytes)
                              : rows_in_last_cache(planes_at_a_time, row_bytes);
    in_threads(target, threads_, [&](const Box& box, std::int64_t) {
      Box block = box;
      for (std::int64_t y = box[1].begin; y < box[1].end; y += rows) {
        block[1] = {y, std::min(y + rows, box[1].end)};
        sweep(from, to, block);
      }
      if (streams) end_streaming();
    });
  }

 private:
  static void sweep(const Mesh<Value>& from, const Mesh<Value>& to, const Box& block) {
    const auto z = block[2];
    auto x = block[0].begin;
    for (; streams && x + 2 <= block[0].end; x += 2) {
      for (std::int64_t y = block[1].begin; y < block[1].end; ++y) {
        relax_two<Value, Stores::streaming>({to.at(x, y, z.begin), to.at(x + 1, y, z.begin)},
                                            from.planes(x, y), from.at(x + 2, y, 0), z.begin,
                                            z.size());
      }
    }
    for (; x < block[0].end; ++x) {
      for (std::int64_t y = block[1].begin; y < block[1].end; ++y) {
        relax(to.at(x, y, z.begin), from.planes(x, y), z.begin, z.size());
      }
    }
  }

  std::int64_t threads_;
};

template <class Value, bool streams>
std::unique_ptr<Sweeper<Value>> make(const Setting& setting) {
  return std::make_unique<OneSweep<Value, streams>>(setting.threads);
}

}  // namespace

Variant plain() { return {"plain", false, 3, make<double, false>, make<float, false>}; }

Variant streaming() { return {"streaming", false, 2, make<double, true>, make<float, true>}; }

}  // namespace halobench::jacobi

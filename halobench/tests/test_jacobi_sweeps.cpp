// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of two planes at a time: on meshes with odd and even numbers of planes, and rows shorter
// and longer than a vector, their values are those of a sweep written out here, to the last bit.
#include <cmath>

#include "base/as_size.hpp"
#include "expect.hpp"
#include "kernels/jacobi3d/sweeper.hpp"
#include "machine/memory.hpp"

using namespace halobench;
using namespace halobench::jacobi;

namespace {

template <class Value>
Value start(std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<Value>(std::sin(static_cast<double>(7 * x + 3 * y + z)));
}

/// A mesh without ghosts, whose boundary is 0.
template <class Value>
struct Twice {
  explicit Twice(const Extents& extents)
      : part{extents, {}, 1},
        storage(part, sizeof(Value)),
        memory(allocator.allocate<Value>(2 * storage.size())),
        meshes{{{storage, memory.data()}, {storage, memory.data() + storage.size()}}} {
    std::fill_n(memory.data(), 2 * storage.size(), Value{0});
    for (std::int64_t x = 0; x < extents[0]; ++x) {
      for (std::int64_t y = 0; y < extents[1]; ++y) {
        for (std::int64_t z = 0; z < extents[2]; ++z)
          *meshes[0].at(x, y, z) = start<Value>(x, y, z);
      }
    }
  }

  Memory allocator{false};
  Part part;
  Storage storage;
  Buffer<Value> memory;
  std::array<Mesh<Value>, 2> meshes;
};

/// The order of additions that relax.hpp promises.
template <class Value>
void sweep(const Extents& extents, const Mesh<Value>& from, const Mesh<Value>& to) {
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) { return *from.at(x, y, z); };
  for (std::int64_t x = 0; x < extents[0]; ++x) {
    for (std::int64_t y = 0; y < extents[1]; ++y) {
      for (std::int64_t z = 0; z < extents[2]; ++z) {
        const Value along_x = at(x - 1, y, z) + at(x + 1, y, z);
        const Value along_y = at(x, y - 1, z) + at(x, y + 1, z);
        const Value along_z = at(x, y, z - 1) + at(x, y, z + 1);
        *to.at(x, y, z) = ((along_x + along_y) + along_z) * (Value{1} / Value{6});
      }
    }
  }
}

template <class Value>
std::unique_ptr<Sweeper<Value>> make(const Variant& variant, const Setting& setting) {
  if constexpr (sizeof(Value) == sizeof(float)) return variant.make_float(setting);
  if constexpr (sizeof(Value) == sizeof(double)) return variant.make_double(setting);
}

template <class Value>
void values_agree(const Variant& variant, const Extents& extents, std::int64_t sweeps) {
  Twice<Value> found(extents);
  Twice<Value> expected(extents);
  const auto targets =
      std::vector<Box>(as_size(variant.many_sweeps ? sweeps : 1), found.part.own());
  const auto sweeper = make<Value>(variant, {sweeps, 1});
  for (std::size_t done = 0; done < as_size(sweeps); done += targets.size()) {
    sweeper->advance({found.meshes[done % 2], found.meshes[1 - done % 2]}, targets, 0, 1);
  }
  for (std::size_t done = 0; done < as_size(sweeps); ++done) {
    sweep(extents, expected.meshes[done % 2], expected.meshes[1 - done % 2]);
  }
  const auto last = as_size(sweeps % 2);
  std::int64_t other = 0;
  for (std::int64_t x = 0; x < extents[0]; ++x) {
    for (std::int64_t y = 0; y < extents[1]; ++y) {
      for (std::int64_t z = 0; z < extents[2]; ++z) {
        other += *found.meshes[last].at(x, y, z) != *expected.meshes[last].at(x, y, z) ? 1 : 0;
      }
    }
  }
  expect::is_true(other == 0, variant.name + " on " + to_string(extents) + ", " +
                                  std::to_string(sweeps) + " sweeps: " + std::to_string(other) +
                                  " other values");
}

}  // namespace

int main() {
  for (const auto& variant : {plain(), streaming(), temporal()}) {
    for (std::int64_t planes = 1; planes <= 7; ++planes) {
      for (const std::int64_t rows : {1, 2, 5}) {
        for (const std::int64_t points : {1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 65, 130}) {
          for (const std::int64_t sweeps : {1, 2, 3}) {
            values_agree<double>(variant, {planes, rows, points}, sweeps);
            values_agree<float>(variant, {planes, rows, points}, sweeps);
          }
        }
      }
    }
  }
  return expect::exit_code();
}

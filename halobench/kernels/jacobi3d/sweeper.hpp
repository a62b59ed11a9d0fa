// SPDX-License-Identifier: BSD-3-Clause
// The variants of the sweep: how they pass over memory. Their values are the same.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "kernels/jacobi3d/mesh.hpp"

namespace halobench::jacobi {

/// Sweeps of a pass at most, and a rank's threads.
struct Setting {
  std::int64_t depth = 1;
  std::int64_t threads = 1;
};

/// Rows of a block so that as many planes of it take half of a core's share of the last cache, or
/// of the second one: the other half is for what only passes by. At least one; 1 MiB where the
/// system names no cache.
std::int64_t rows_in_last_cache(std::int64_t planes, std::int64_t row_bytes);
std::int64_t rows_in_second_cache(std::int64_t planes, std::int64_t row_bytes);

template <class Value>
class Sweeper {
 public:
  virtual ~Sweeper() = default;
  /// One sweep on the points of each of `targets`: the first reads meshes[0] and writes meshes[1],
  /// the next one reads that, and so on in turn. Each target reaches at most as far as the one
  /// before, and nothing outside of it is written. Only one part of the pass, of so many `parts`,
  /// which are requested in order.
  virtual void advance(const std::array<Mesh<Value>, 2>& meshes, std::span<const Box> targets,
                       std::int64_t part, std::int64_t parts) = 0;
};

/// What is known of a variant beforehand, and how to make its sweeper.
struct Variant {
  std::string name;
  bool many_sweeps;  ///< `depth` sweeps a pass; else one
  /// Values that a pass reads from memory or writes to it, at each point: a value that is written
  /// without being read is fetched first, but for streaming stores.
  double values_a_pass;
  std::unique_ptr<Sweeper<double>> (*make_double)(const Setting& setting);
  std::unique_ptr<Sweeper<float>> (*make_float)(const Setting& setting);
};

Variant plain();
Variant streaming();
Variant temporal();

}  // namespace halobench::jacobi

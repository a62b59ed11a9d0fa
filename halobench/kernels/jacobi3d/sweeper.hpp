// SPDX-License-Identifier: BSD-3-Clause
// The variants of the sweep: how they pass over memory. Their values are the same.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/jacobi3d/mesh.hpp"
#include "machine/memory.hpp"

namespace halobench::jacobi {

/// A rank's part of the mesh, its threads, and its values' type.
struct Setting {
  Part part;
  std::int64_t threads = 1;
  std::int64_t value_bytes = sizeof(double);
};

/// Rows of a block so that as many planes of it take half of a core's share of the last cache: the
/// other half is for what only passes by. At least one; 1 MiB where the system names no cache.
///
/// Not the second cache: what would fit there is so few rows that most of a block's neighbours
/// would be read, or computed, twice; and blocks of shorter rows are slower still, because memory
/// is read ahead along rows.
std::int64_t rows_in_cache(std::int64_t planes, std::int64_t row_bytes);

template <class Value>
class Sweeper {
 public:
  virtual ~Sweeper() = default;
  /// `to` = `sweeps` sweeps on `from`, on the points of `target`; `from` reaches as many layers
  /// further, where they are not beyond the boundary.
  virtual void advance(const Mesh<Value>& from, const Mesh<Value>& to, const Box& target,
                       std::int64_t sweeps) = 0;
  /// The same where `target` is all that is wanted of both meshes: `from` may be written, too.
  /// Whether the result is in `to`; else in `from`.
  virtual bool advance_all(const Mesh<Value>& from, const Mesh<Value>& to, const Box& target,
                           std::int64_t sweeps) {
    advance(from, to, target, sweeps);
    return true;
  }
};

/// What is known of a variant beforehand, and how to make its sweeper.
struct Variant {
  std::string name;
  bool many_sweeps;  ///< `depth` sweeps a pass; else one
  /// Values that a pass reads from memory or writes to it, at each point: a value that is written
  /// without being read is fetched first, but for streaming stores.
  double values_a_pass;
  /// The same of a pass of advance_all().
  double values_of_all;
  /// Values of memory of its own.
  std::int64_t (*memory)(const Setting& setting);
  std::unique_ptr<Sweeper<double>> (*make_double)(const Setting& setting, Memory& memory);
  std::unique_ptr<Sweeper<float>> (*make_float)(const Setting& setting, Memory& memory);
};

Variant plain();
Variant streaming();
Variant temporal();

}  // namespace halobench::jacobi

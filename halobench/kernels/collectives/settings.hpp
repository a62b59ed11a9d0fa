// SPDX-License-Identifier: BSD-3-Clause
// The collective operations, and the kernel's parameters parsed into one value.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernel.hpp"
#include "kernels/memory/memory.hpp"

namespace halobench::collective {

constexpr std::int64_t item = sizeof(double);
inline constexpr const char* no_barrier = "SMPI's MPI_Ibarrier does not synchronise (SimGrid 3.32)";

struct Arguments {
  const void* in;
  void* out;
  int bytes;  ///< of a block
  int ranks;
  MPI_Comm comm;

  int items() const { return bytes / static_cast<int>(item); }
};

/// Blocks in a rank's buffer: none, one, one for each rank.
enum class Blocks { none, one, each };

/// Which ranks get what: the same bytes everywhere, bytes for each alone, bytes of all or sums on
/// one, sums on all.
enum class Outcome { nothing, shared_bytes, own_bytes, bytes_on_root, sum_on_root, sum_on_all };

struct Operation {
  const char* name;
  Blocks in;
  Blocks out;
  Outcome outcome;
  int (*call)(const Arguments&);
  int (*start)(const Arguments&, MPI_Request*);
};

extern const std::array<Operation, 8> operations;

bool ends_on_root(const Operation& operation);
bool sums(const Operation& operation);
/// Blocks in a rank's buffer.
std::int64_t count(Blocks blocks, std::int64_t ranks);

/// An operation at a size.
struct Point {
  const Operation* operation;
  std::int64_t size;
};

struct Settings {
  bool blocking;
  bool lacks_barrier;  ///< of all operations, which include one that this program cannot run
  std::vector<Point> points;
  MemorySettings memory;

  /// Bytes of the largest buffer, in or out, that any point needs.
  std::int64_t largest(Blocks Operation::* side, std::int64_t ranks) const;
};

std::vector<Parameter> parameters();

Settings parse_settings(const Params& params);

Plan plan(const Params& params, const Shape& shape);

}  // namespace halobench::collective

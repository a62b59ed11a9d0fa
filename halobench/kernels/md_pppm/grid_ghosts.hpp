// SPDX-License-Identifier: BSD-3-Clause
// Points around a rank's brick of PPPM's grid: sums to their owners, values from them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/md_pppm/phases.hpp"
#include "kernels/md_pppm/system.hpp"

namespace halobench::md {

/// LAMMPS' swaps with six neighbours (grid3d.cpp), ghosts that have come before among them. Arrays
/// hold the brick with its ghosts, x fastest. Bricks are thick enough that ghosts come from
/// neighbours alone (parse_system).
class GridGhosts {
 public:
  GridGhosts(const Context& context, const System& system);

  const Box& whole() const { return whole_; }
  /// Of the brick's points to all their ghosts; `values` doubles a point.
  void forward(Phases& phases, double* grid, std::int64_t values) const;
  /// Adds what ghosts have to their points: one double each.
  void reverse(Phases& phases, double* grid) const;

  /// Bytes of a rank's buffers.
  static double memory(const System& system, std::int64_t rank);

 private:
  struct Swap {
    int to;
    int from;
    Box sent;
    Box received;
  };

  static std::vector<Swap> swaps(const System& system, std::int64_t rank);
  static std::int64_t largest_message(const std::vector<Swap>& swaps);
  void exchange(Phases& phases, std::int64_t sent, int to, std::int64_t received, int from) const;

  const Communicator& comm_;
  Meter& meter_;
  Box whole_;
  std::vector<Swap> swaps_;
  Buffer<double> out_;
  Buffer<double> in_;
};

}  // namespace halobench::md

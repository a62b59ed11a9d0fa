// SPDX-License-Identifier: BSD-3-Clause
// A grid from one layout over ranks to another: LAMMPS' remaps (remap.cpp), point to point.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/md_pppm/phases.hpp"
#include "kernels/md_pppm/system.hpp"

namespace halobench::md {

/// Values of points lie one point after the other, x fastest.
class Remap {
 public:
  /// values: doubles a point. once: where ranks have many messages, a part of them stands for all,
  /// evenly spread over ranks, and the others are taken to last as long: under simulation, without
  /// data. Collective.
  Remap(const Context& context, const System& system, Layout from, Layout to, std::int64_t values,
        bool once);

  /// Moves what this rank has of one layout to where the other has it.
  void run(Phases& phases, const double* from, double* to, double* buffer) const;

  /// Doubles that run() needs in its buffer: what is sent, then what comes.
  static std::int64_t buffer_values(const System& system, std::int64_t rank, Layout from, Layout to,
                                    std::int64_t values);

 private:
  struct Piece {
    int rank;
    Box box;
    std::int64_t first;  ///< in the buffer
    std::int64_t count;
  };

  std::vector<Piece> pieces(const System& system, Layout others, const Box& own,
                            int direction) const;
  void exchange(double* buffer) const;
  bool goes(const Piece& piece) const { return (piece.rank + comm_.rank()) % stands_for_ == 0; }

  const Communicator& comm_;
  Meter& meter_;
  std::int64_t values_;
  Box from_;
  Box to_;
  Box kept_;
  std::vector<Piece> sent_;
  std::vector<Piece> received_;
  std::int64_t stands_for_ = 1;  ///< a message for so many
};

}  // namespace halobench::md

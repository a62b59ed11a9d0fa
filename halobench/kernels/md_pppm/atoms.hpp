// SPDX-License-Identifier: BSD-3-Clause
// Which of a rank's atoms its neighbours need, and which move on to them: on every rank the same.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/md_pppm/system.hpp"

namespace halobench::md {

/// A ghost atom is an image of an atom of the rank that many bricks away, with the same place
/// there.
struct Ghost {
  std::int32_t slot;
  std::array<std::int8_t, 3> bricks;
};

/// LAMMPS' six swaps of ghost atoms (comm_brick.cpp): to the lower neighbour along x and to the
/// upper one, then along y and z, ghosts that have come before among them.
///
/// Atoms lie evenly, as many on each rank, at places that are the same in each brick (slots): the
/// benchmark's own, copied, does nearly so. So all ranks send as many to each other as LAMMPS does
/// on the mean, and each computes what all others send.
class Atoms {
 public:
  static constexpr std::size_t swaps = 6;

  /// What each swap has; lists of atoms too where `listed`, else their numbers alone.
  Atoms(const System& system, bool listed);

  std::int64_t owned() const { return owned_; }
  std::int64_t sent(std::size_t swap) const { return sent_[swap]; }
  /// All that the swaps before it have brought: the number of the first one that it brings.
  std::int64_t first(std::size_t swap) const { return first_[swap]; }
  std::int64_t ghosts() const { return first_[swaps] - owned_; }
  /// Atoms that move across each of the two faces of an axis when neighbour lists are built.
  std::int64_t movers(std::size_t axis) const { return movers_[axis]; }

  static std::size_t axis(std::size_t swap) { return swap / 2; }
  /// -1 towards the lower neighbour, 1 towards the upper one.
  static int direction(std::size_t swap) { return swap % 2 == 0 ? -1 : 1; }

  /// Atoms, and ghosts after them, that a swap sends. Only where listed, as all below.
  const std::vector<std::int32_t>& list(std::size_t swap) const { return lists_[swap]; }
  /// Ghosts in their order.
  const std::vector<Ghost>& images() const { return ghosts_; }
  /// Slots whose atoms move through the face of a swap; each in one alone.
  const std::vector<std::int32_t>& moving(std::size_t swap) const { return moving_[swap]; }

 private:
  void count();
  void list_all();
  void choose_movers();
  bool near(std::int64_t slot, std::size_t swap) const;

  std::int64_t owned_;
  std::array<std::uint64_t, 3> layer_{};  ///< as far from a face as ghosts reach; 2^64 is the brick
  std::array<std::int64_t, swaps> sent_{};
  std::array<std::int64_t, swaps + 1> first_{};
  std::array<std::int64_t, 3> movers_{};
  std::array<std::vector<std::int32_t>, swaps> lists_;
  std::array<std::vector<std::int32_t>, swaps> moving_;
  std::vector<Ghost> ghosts_;
};

}  // namespace halobench::md

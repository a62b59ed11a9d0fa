// SPDX-License-Identifier: BSD-3-Clause
// Ghost atoms: LAMMPS' exchange over the six faces of a brick, with atoms that can be told apart.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/md_pppm/atoms.hpp"
#include "kernels/md_pppm/phases.hpp"

namespace halobench::md {

/// What each swap of a step sends, in doubles of an atom (atom_style full).
constexpr std::int64_t position_values = 3;
constexpr std::int64_t force_values = 3;
constexpr std::int64_t border_values = 8;
/// On the mean, with its bonds, angles, dihedrals and special neighbours.
constexpr std::int64_t mover_values = 46;

class Ghosts {
 public:
  Ghosts(const Context& context, const System& system, Phases& phases);

  /// Atoms that have left the brick go to the neighbours, then all ghosts are made anew.
  void rebuild();
  /// Sends positions of atoms to all their ghosts, in the given phase.
  void forward(Phase& phase, Phase& packing);
  /// Forces on ghosts, summed up where their atoms are.
  void reverse();

  const Atoms& atoms() const { return atoms_; }
  /// The first ghost or sum that is wrong after the last calls of all three; empty where none is.
  std::string fault() const;

  /// Bytes that each rank has so.
  static double memory(const Atoms& atoms);

 private:
  int neighbour(std::size_t axis, int direction) const;
  /// The atom at a slot of a rank: what its owner knows it by.
  double atom_at(std::int64_t rank, std::int64_t slot) const;
  std::int64_t owner(const Ghost& ghost) const;

  void pack(Phase& phase, std::size_t swap, std::int64_t values, const Buffer<double>& from);
  void send(Phase& phase, int to, std::int64_t sent, int from, std::int64_t received);
  void send_count(Phase& phase, int to, std::int64_t sent, int from, std::int64_t received);
  void migrate(std::size_t axis);
  void take(std::size_t axis, std::int64_t first, int direction);
  void border(std::size_t swap);

  Meter& meter_;
  const Communicator& comm_;
  const System& system_;
  Phases& phases_;
  const Atoms atoms_;
  Buffer<double> atom_;      ///< which one is at a slot, or a ghost's
  Buffer<double> position_;  ///< of atoms, then of ghosts
  Buffer<double> force_;     ///< likewise
  Buffer<double> out_;
  Buffer<double> in_;
  std::vector<std::pair<std::size_t, std::int32_t>>
      partner_;  ///< of a slot: the swap through whose
                 ///< face its atom moves, and to which slot
  std::int64_t rebuilds_ = 0;
  std::int64_t forwards_ = 0;
  std::string wrong_count_;
};

/// Sends and receives at once, as LAMMPS does: MPI_Irecv, MPI_Send, MPI_Wait. Nothing is sent, or
/// awaited, where values are absent.
void swap_values(const Communicator& comm, const double* out, std::int64_t sent, int to, double* in,
                 std::int64_t received, int from);

}  // namespace halobench::md

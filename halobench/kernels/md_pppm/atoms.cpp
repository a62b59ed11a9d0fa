// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/md_pppm/atoms.hpp"

#include <algorithm>
#include <cmath>

#include "base/as_size.hpp"

namespace halobench::md {
namespace {

/// Of an even sequence in three dimensions: 2^64 over powers of the root of x^4 = x + 1 (M.
/// Roberts, The unreasonable effectiveness of quasirandom sequences, 2018). Its multiples fill a
/// brick evenly, however many they are.
constexpr std::array<std::uint64_t, 3> strides{0xd1b54a32d192ed03U, 0xabc98388fb8fac03U,
                                               0x8cb92ba72f3d8dd7U};

/// Through a square A of a face along x, y and z in one direction, between two builds of neighbour
/// lists: what LAMMPS sent on 8 ranks, by mover_values (tests/lammps_rhodo_traffic.csv).
constexpr Lengths movers_an_area{26.4 / (77.0 * 72.726), 16.3 / (55.0 * 72.726),
                                 14.6 / (55.0 * 77.0)};

}  // namespace

Atoms::Atoms(const System& system, bool listed) : owned_(system.atoms_of_a_rank()) {
  const auto lengths = system.lengths();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    layer_[axis] = static_cast<std::uint64_t>(std::ldexp(System::reach / lengths[axis], 64));
    const double face = lengths[(axis + 1) % 3] * lengths[(axis + 2) % 3];
    const bool cut = system.bricks().extent(axis) > 1;  // else the neighbour is the rank itself
    movers_[axis] = cut ? std::llround(movers_an_area[axis] * face) : 0;
  }
  count();
  if (!listed) return;
  list_all();
  choose_movers();
}

/// Whether an atom is as near to the face of a swap as ghosts reach.
bool Atoms::near(std::int64_t slot, std::size_t swap) const {
  const auto place = static_cast<std::uint64_t>(slot + 1) * strides[axis(swap)];
  return direction(swap) < 0 ? place < layer_[axis(swap)] : ~place < layer_[axis(swap)];
}

void Atoms::count() {
  for (std::int64_t slot = 0; slot < owned_; ++slot) {
    std::int64_t images = 1;  // of this atom so far, itself among them
    for (std::size_t along = 0; along < 3; ++along) {
      const std::int64_t down = near(slot, 2 * along) ? images : 0;
      const std::int64_t up = near(slot, 2 * along + 1) ? images : 0;
      sent_[2 * along] += down;
      sent_[2 * along + 1] += up;
      images += down + up;
    }
  }
  first_[0] = owned_;
  for (std::size_t swap = 0; swap < swaps; ++swap) first_[swap + 1] = first_[swap] + sent_[swap];
}

/// What comes in is what this rank sends the same way: its neighbours send alike.
void Atoms::list_all() {
  std::vector<Ghost> known;
  for (std::int64_t slot = 0; slot < owned_; ++slot) {
    known.push_back({static_cast<std::int32_t>(slot), {}});
  }
  for (std::size_t swap = 0; swap < swaps; swap += 2) {
    const auto before = std::ssize(known);
    for (const auto one : {swap, swap + 1}) {
      for (std::int64_t i = 0; i < before; ++i) {
        if (!near(known[as_size(i)].slot, one)) continue;
        lists_[one].push_back(static_cast<std::int32_t>(i));
        auto image = known[as_size(i)];
        auto& bricks = image.bricks[axis(one)];  // it comes from the side away from where it goes
        bricks = static_cast<std::int8_t>(bricks - direction(one));
        known.push_back(image);
      }
    }
  }
  ghosts_.assign(known.begin() + owned_, known.end());
}

void Atoms::choose_movers() {
  std::vector<bool> taken(as_size(owned_));
  for (std::size_t swap = 0; swap < swaps; ++swap) {
    for (const auto slot : lists_[swap]) {
      if (std::ssize(moving_[swap]) == movers_[axis(swap)]) break;
      if (slot >= owned_ || taken[as_size(slot)]) continue;
      taken[as_size(slot)] = true;
      moving_[swap].push_back(slot);
    }
  }
}

}  // namespace halobench::md

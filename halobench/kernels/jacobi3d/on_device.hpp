// SPDX-License-Identifier: BSD-3-Clause
// Sweeps in a device's memory: a device kernel each, ghosts by a star forest.
#pragma once

#include <memory>
#include <string>

#include "kernel.hpp"
#include "kernels/jacobi3d/cut.hpp"
#include "kernels/jacobi3d/mesh.hpp"
#include "star_forest/device_space.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench::jacobi {

/// Two meshes of one layer of ghosts there, laid out as the host's.
template <class Value>
class SweepsOnDevice {
 public:
  SweepsOnDevice(const Context& context, const Cut& cut, const SpaceMaker& make_space);

  /// Both meshes, from the host's memory; and the one that has the values, to it.
  void put(const std::array<Mesh<Value>, 2>& meshes);
  void fetch(std::size_t which, const Mesh<Value>& mesh) const;

  /// Fills the ghosts of one of them ...
  void exchange(std::size_t which);
  /// ... and launches a sweep into the other one.
  void sweep(std::size_t from, const Traffic& traffic);
  /// Returns when all sweeps are done.
  void synchronise() const;

  std::int64_t messages() const { return forest_->bcast_sent().messages; }
  std::string device() const { return device_.device().name(); }

 private:
  Value* reach(std::size_t which) const;
  void connect(const Context& context, const Cut& cut);

  Part part_;
  Storage storage_;
  std::unique_ptr<Space> space_;
  DeviceSpace& device_;
  std::array<SpaceArray<Value>, 2> meshes_;
  std::unique_ptr<StarForest> forest_;  ///< from own points to ghosts
};

/// Adds to a plan what the kernel does in a device's memory, and what it does not.
void plan_on_device(const Params& params, const Cut& cut, Plan& planned);

}  // namespace halobench::jacobi

// SPDX-License-Identifier: BSD-3-Clause
// Sweeps in a device's memory: a device kernel each, ghosts by a star forest.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "kernel.hpp"
#include "kernels/jacobi3d/cut.hpp"
#include "kernels/jacobi3d/mesh.hpp"
#include "kernels/memory/memory.hpp"
#include "star_forest/space_maker.hpp"

namespace halobench::jacobi {

/// Two meshes of one layer of ghosts there, laid out as the host's.
template <class Value>
class SweepsOnDevice {
 public:
  virtual ~SweepsOnDevice() = default;

  /// Both meshes, from the host's memory; and the one that has the values, to it.
  virtual void put(const std::array<Mesh<Value>, 2>& meshes) = 0;
  virtual void fetch(std::size_t which, const Mesh<Value>& mesh) const = 0;

  /// Fills the ghosts of one of them ...
  virtual void exchange(std::size_t which) = 0;
  /// ... and launches a sweep into the other one.
  virtual void sweep(std::size_t from, const Traffic& traffic) = 0;
  /// Returns when all sweeps are done.
  virtual void synchronise() const = 0;

  virtual std::int64_t messages() const = 0;
  virtual std::string device() const = 0;
};

/// In the space that `make_space` makes; without one, in the memory that `memory` requests.
/// Only in programs that have devices.
template <class Value>
[[gnu::weak]] std::unique_ptr<SweepsOnDevice<Value>> sweeps_on_device(const Context& context,
                                                                      const MemorySettings& memory,
                                                                      const Cut& cut,
                                                                      const SpaceMaker& make_space);

}  // namespace halobench::jacobi

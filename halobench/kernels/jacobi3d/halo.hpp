// SPDX-License-Identifier: BSD-3-Clause
// Ghost layers: what travels between ranks, and round a periodic axis that is not cut.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kernel.hpp"
#include "kernels/jacobi3d/mesh.hpp"
#include "mpi/halo_exchange.hpp"

namespace halobench::jacobi {

/// How faces are exchanged.
struct FaceExchange {
  ExchangeMode mode;
  bool derived_types;  ///< MPI reads and writes the mesh itself: no buffers and no packing
};

/// HaloExchange's modes that suit rings of ranks, and derived_types.
std::vector<std::string> face_exchange_names();
/// `name`: one of face_exchange_names().
FaceExchange face_exchange(const std::string& name);

/// A face of the box to be sent, and the ghosts to be received there.
template <class Value>
struct Face {
  Box out;
  Box in;
  Buffer<Value> send;
  Buffer<Value> receive;
};

/// Fills the ghosts of two meshes, one at a time.
///
/// A single layer needs no corners: all faces travel at once. More do, so the axes take turns, and
/// each sends on what it received along the earlier ones: six messages in three stages instead of
/// 26 in one.
template <class Value>
class Halo {
 public:
  Halo(const Context& context, const Cut& cut, const FaceExchange& exchange,
       const std::array<Mesh<Value>, 2>& meshes);
  ~Halo();
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  std::size_t stages() const { return stages_.size(); }
  /// Whether messages travel between start() and finish().
  bool overlaps() const;
  /// In this order, for every stage; `which` mesh is read and written.
  void pack(std::size_t stage, std::size_t which) const;
  void start(std::size_t stage, std::size_t which) const;
  void finish(std::size_t stage, std::size_t which) const;
  void unpack(std::size_t stage, std::size_t which) const;

  /// Messages that this rank sends to fill all ghosts once.
  std::int64_t messages() const;
  /// Bytes that packing, or unpacking, reads and writes in a stage.
  double copied_bytes(std::size_t stage) const;

  /// Values of buffers that a rank needs.
  static std::int64_t memory(const Cut& cut, std::int64_t rank, const FaceExchange& exchange);

 private:
  struct Stage {
    std::vector<Face<Value>> faces;  ///< to other ranks, through buffers
    std::vector<Face<Value>> wraps;  ///< to this rank itself
    /// One for both meshes where there are buffers, one for each where MPI picks.
    std::vector<std::unique_ptr<HaloExchange>> exchanges;
  };

  Neighbour meet(const Context& context, int rank, const Mesh<Value>& mesh, const Box& out,
                 const Box& in, Stage& stage);
  MPI_Datatype type_of(const Mesh<Value>& mesh, const Box& box);
  HaloExchange& exchange(std::size_t stage, std::size_t which) const;

  std::array<Mesh<Value>, 2> meshes_;
  bool picks_;  ///< derived types
  std::vector<Stage> stages_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace halobench::jacobi

// SPDX-License-Identifier: BSD-3-Clause
// Star forests: values that are copied from roots to leaves on any rank, and collected from leaves
// to roots. J. Zhang et al., The PetscSF Scalable Communication Layer, 2021; section 4 of J. Zhang,
// R. T. Mills, B. Smith, Evaluation of PETSc on a Heterogeneous Architecture, the OLCF Summit
// System, Part II: Basic Communication Performance, Argonne National Laboratory, 2020
// (papers/anl-petsc-summit-part2), which other files name by its authors and year.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "star_forest/forest_edges.hpp"
#include "star_forest/index_set.hpp"
#include "star_forest/space.hpp"
#include "star_forest/sparse_exchange.hpp"
#include "star_forest/tag.hpp"

namespace halobench {

/// What one operation sends over MPI, from this rank.
struct Sent {
  std::int64_t messages = 0;
  std::int64_t units = 0;
};

/// Leaves here whose roots are on one other rank: the roots of leaves in the same order.
struct Bond {
  int rank = 0;
  IndexSet leaves;
  IndexSet roots;
};

/// A forest of stars: every leaf of a rank has one root, here or on another rank; a root has any
/// number of leaves. Roots and leaves are indices into arrays of the caller's, of units (width
/// values of a type) each.
///
/// An operation has two phases. begin() posts its messages, at most one to each neighbour, and
/// serves the leaves whose roots are on the same rank without MPI; end() waits for the messages and
/// puts the values into their places. Between them, the values that are read must not change and
/// those that are written must not be used. Any number of operations may be in flight; all ranks
/// begin them in the same order, with the same unit and operation, and end each with what it began
/// with (in any order). Where ranks begin different units or operations, end() throws
/// std::logic_error that names them: on all ranks in the first two operations of a forest, which
/// they agree on (unless time alone is simulated); later, on those that receive a message of the
/// other. Its tag tells, which costs nothing.
///
/// Indices are described at set-up, for each neighbour by itself: a contiguous run is sent from,
/// or received into, the caller's own memory; sub-boxes of an array need their extents and strides;
/// what remains is a list.
///
/// In a device's memory (a DeviceSpace), what begin() and end() wait for is the space's: values may
/// still be on their way to leaves and roots when end() returns. Messages that its stream sends
/// have no tags: ranks agree on the first two operations before they are given to it, and later
/// ones of different lengths may wait for ever.
///
/// Sums are deterministic: a root takes its own rank's leaves first, then those of the other ranks
/// in rank order, each in the order in which that rank gave them. The cost: a message that
/// overtakes one of a lower rank is unpacked after it.
///
/// Receives are persistent requests, made for a buffer when it is first used. Sends are not: in
/// Open MPI 4.1, a persistent send of 8 bytes over shared memory takes 0.7 us and MPI_Isend 0.4 us.
class StarForest {
 public:
  /// `space` has the caller's arrays and all buffers. `roots`: how many this rank has, 0 to roots
  /// - 1. `edges[i]` is the root of leaf `leaves[i]`, of leaf i where `leaves` is empty.
  /// Collective. Time grows with the edges of a rank, the number of its neighbours and log(ranks);
  /// no memory grows with the number of ranks. Throws UsageError, on every rank the same, where a
  /// root is missing or a leaf has two.
  StarForest(const Communicator& comm, Space& space, std::int64_t roots,
             std::span<const Root> edges, std::span<const std::int64_t> leaves = {});
  /// The same of edges that are index sets already, such as boxes of a grid: no memory grows with
  /// them. `bonds` are with different ranks, none with this one. Throws UsageError, on every rank
  /// the same, where a rank or a root is missing, or a bond has more leaves than roots or less.
  StarForest(const Communicator& comm, Space& space, std::int64_t roots,
             const std::vector<Bond>& bonds);
  /// Completes what is in flight.
  ~StarForest();
  StarForest(const StarForest&) = delete;
  StarForest& operator=(const StarForest&) = delete;

  /// Every leaf takes its root's unit, or joins it with its own.
  void bcast_begin(const Unit& unit, const void* roots, void* leaves,
                   Operation operation = Operation::replace);
  /// Throws std::logic_error if this was not begun, and the operation stays in flight.
  void bcast_end(const Unit& unit, const void* roots, void* leaves,
                 Operation operation = Operation::replace);

  /// Every root joins its unit with those of all its leaves; or takes it, where it has one leaf.
  /// Throws UsageError on every rank for `replace` where some root of the forest has several
  /// leaves.
  void reduce_begin(const Unit& unit, const void* leaves, void* roots, Operation operation);
  void reduce_end(const Unit& unit, const void* leaves, void* roots, Operation operation);

  /// What an operation consists of. In a device's memory, begin is what the host does before it
  /// packs, and copy_out and copy_in are of messages that are staged; there, all parts but messages
  /// of MPI's may go on when they have been launched.
  enum class Part { begin, pack, copy_out, messages, scatter, copy_in, unpack };
  /// Runs one part by itself, to time it: all ranks, with nothing in flight, after an operation
  /// like it was run. Messages carry what their buffers hold. It waits for nothing on a device.
  void run_bcast_part(Part part, const Unit& unit, const void* roots, void* leaves,
                      Operation operation = Operation::replace);
  void run_reduce_part(Part part, const Unit& unit, const void* leaves, void* roots,
                       Operation operation);

  /// Units whose roots and leaves are both here.
  std::int64_t local_units() const { return local_.from.count; }
  /// Units that a part moves on this rank: none where messages go out of the caller's array, or
  /// come into it.
  std::int64_t bcast_moves(Part part, Operation operation = Operation::replace) const;
  std::int64_t reduce_moves(Part part, Operation operation) const;
  /// How often an operation waits for a device's stream, after it has begun: never in the host's
  /// memory.
  std::int64_t bcast_waits(Operation operation = Operation::replace) const;
  std::int64_t reduce_waits(Operation operation) const;
  Sent bcast_sent() const { return sent(root_side_); }
  Sent reduce_sent() const { return sent(leaf_side_); }

 private:
  /// A neighbour, and the units of this rank that it shares: its leaves' roots, or its roots'
  /// leaves.
  struct Neighbour {
    int rank;
    Route packing;  ///< from the caller's array to a message
  };
  using Side = std::vector<Neighbour>;

  /// What begin() and end() must agree on.
  struct Transfer {
    Way way;
    Unit unit;
    Operation operation;
    const void* from;
    void* to;

    bool operator==(const Transfer&) const = default;
  };

  struct Messages;
  class Packed;
  class Link;

  /// Whether all roots of this rank that leaves have are here.
  bool connect(std::int64_t roots, std::vector<Bundle> bundles);
  /// Whether all roots that other ranks request with their `parcels` are here.
  bool learn_of_leaves(std::int64_t roots, const std::vector<Parcel>& parcels);
  void find_shared_root(std::int64_t roots);
  void prepare_scatter();
  void begin(const Transfer& transfer);
  void end(const Transfer& transfer);
  void scatter(const Transfer& transfer);
  void run_part(Part part, const Transfer& transfer);
  Link& idle_link(const Transfer& transfer);
  Link& link_in_flight(const Transfer& transfer);
  std::int64_t moves(Part part, Way way, Operation operation) const;
  std::int64_t waits(Way way, Operation operation) const;
  /// Units of a neighbour's message that pass through a buffer; `runs_whole`: runs need none.
  static std::int64_t buffered(const Neighbour& neighbour, bool runs_whole);
  static Sent sent(const Side& side);

  Communicator comm_;  ///< of its own: its messages are nobody else's
  Space& space_;
  Side root_side_;              ///< ranks with leaves of this rank's roots
  Side leaf_side_;              ///< ranks with roots of this rank's leaves
  Route local_;                 ///< from roots to leaves of this rank
  Routes scattered_;            ///< that one
  std::optional<Root> shared_;  ///< a root of several leaves, on the first rank that has one
  std::int64_t begun_ = 0;      ///< operations: on all ranks the same number
  std::vector<std::unique_ptr<Link>> links_;  ///< oldest first
};

}  // namespace halobench

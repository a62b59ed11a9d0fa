// SPDX-License-Identifier: BSD-3-Clause
// Exchange of halos with the neighbours along each axis of a grid of ranks, in six ways.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/neighbor_collective.hpp"
#include "mpi/payload.hpp"

namespace halobench {

enum class ExchangeMode {
  blocking,     ///< textbook order: all send up, then receive from below; then the reverse
  even_odd,     ///< blocking, but even positions send first and odd ones receive first
  sendrecv,     ///< MPI_Sendrecv up, then down
  nonblocking,  ///< MPI_Irecv and MPI_Isend at the start, MPI_Waitall at the end
  persistent,   ///< the same with requests set up once
  neighbor,     ///< all in one MPI_Neighbor_alltoallw
};

/// Whether messages of a mode travel while the rank does something else.
bool overlaps(ExchangeMode mode);

/// The modes' names, in their order: what a kernel's parameter `exchange` may be.
std::vector<std::string> exchange_names();
ExchangeMode exchange_mode(const std::string& name);
/// Why the MPI library can't exchange so, and what to do; empty where it can.
std::string exchange_missing(ExchangeMode mode);

/// A neighbour, or none (MPI_PROC_NULL), what goes there and what comes from there.
struct Neighbour {
  int rank = MPI_PROC_NULL;
  Payload send = {};
  Payload receive = {};
};

/// One axis of the grid of ranks: this rank's position on it, and the neighbours on both sides.
struct Axis {
  int position = 0;
  Neighbour low;
  Neighbour high;
};

/// Sends and receives halos; the caller fills and reads the buffers, which must stay where they
/// are.
///
/// A blocking send above the library's eager limit waits for its receive. In the textbook order the
/// last rank of an axis has nobody to send to and receives at once, then the one before it can, and
/// so on: no deadlock, but a chain. On an axis that is closed to a ring, where everybody has
/// somebody to send to, position 0 begins the chain: it receives first. (even_odd would deadlock on
/// a ring of an odd number of ranks.)
class HaloExchange {
 public:
  /// Collective. Throws UsageError where a message is too large for MPI's counts.
  HaloExchange(const Communicator& comm, ExchangeMode mode, const std::vector<Axis>& axes);
  ~HaloExchange();
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;

  /// Whether messages travel between start() and finish(): nobody may touch the buffers there.
  bool overlaps() const;
  /// Posts the messages, where the mode can; the send buffers must be filled.
  void start();
  /// Returns when the receive buffers are filled and the send buffers free again.
  void finish();
  /// Messages that this rank sends in one exchange.
  std::int64_t messages() const { return std::ssize(outgoing_); }

 private:
  struct Message {
    int rank;
    int tag;
    Payload data;
  };
  /// One direction along an axis: a message to one side, and one from the other.
  struct Way {
    Message out;
    Message in;
  };
  struct Line {
    int position;
    Way up;
    Way down;
  };

  void send(const Message& to) const;
  void receive(const Message& from) const;
  void send_and_receive(const Way& way) const;
  void shift(const Way& way, bool receive_first) const;
  void finish_even_odd(const Line& line) const;
  void post();
  void prepare();
  void join();

  const Communicator& comm_;
  ExchangeMode mode_;
  std::vector<Line> lines_;
  std::vector<Message> incoming_;  // those of the lines that have a neighbour
  std::vector<Message> outgoing_;
  std::vector<MPI_Request> requests_;               // one for each of them
  std::unique_ptr<NeighborCollective> collective_;  // of the mode neighbor alone
};

}  // namespace halobench

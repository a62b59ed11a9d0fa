// Exchange of halos with the neighbours along each axis of a grid of ranks, in five ways.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"

namespace halobench {

enum class ExchangeMode {
  blocking,     ///< textbook order: all send up, then receive from below; then the reverse
  even_odd,     ///< blocking, but even positions send first and odd ones receive first
  sendrecv,     ///< MPI_Sendrecv up, then down
  nonblocking,  ///< MPI_Irecv and MPI_Isend at the start, MPI_Waitall at the end
  persistent,   ///< the same with requests set up once
};

/// The modes' names, in their order: what a kernel's parameter `exchange` may be.
std::vector<std::string> exchange_names();
ExchangeMode exchange_mode(const std::string& name);

/// A neighbour, or none (MPI_PROC_NULL), what goes there and what comes from there.
struct Neighbour {
  int rank = MPI_PROC_NULL;
  std::span<const double> send = {};
  std::span<double> receive = {};
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
/// so on: no deadlock, but a chain.
class HaloExchange {
 public:
  /// Throws UsageError where a message is too large for MPI's counts.
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
  struct Outgoing {
    int rank;
    int tag;
    std::span<const double> data;
  };
  struct Incoming {
    int rank;
    int tag;
    std::span<double> data;
  };
  /// One direction along an axis: a message to one side, and one from the other.
  struct Way {
    Outgoing out;
    Incoming in;
  };
  struct Line {
    int position;
    Way up;
    Way down;
  };

  void send(const Outgoing& message) const;
  void receive(const Incoming& message) const;
  void send_and_receive(const Way& way) const;
  void finish_blocking(const Line& line) const;
  void finish_even_odd(const Line& line) const;
  void post();
  void prepare();

  const Communicator& comm_;
  ExchangeMode mode_;
  std::vector<Line> lines_;
  std::vector<Incoming> incoming_;  // those of the lines that have a neighbour
  std::vector<Outgoing> outgoing_;
  std::vector<MPI_Request> requests_;  // one for each of them
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// A transpose: what every rank of a row, or of a column, sends to every other, chunk by chunk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "numerics/fftw.hpp"

namespace halobench::fft {

/// How a transpose's messages travel: the parameter `transpose`.
///   alltoallv: one MPI_Alltoallv.
///   pairwise: MPI_Sendrecv with one rank after the other.
///   pipelined: messages of each chunk by themselves, all receives posted before the first.
enum class Transpose { alltoallv, pairwise, pipelined };

/// Coefficients next to each other in a buffer.
struct Piece {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// A buffer, and what of it goes to, or comes from, each rank in each chunk; nothing for the rank
/// itself, which has what it keeps in place.
struct Side {
  Complex* memory = nullptr;
  std::vector<std::vector<Piece>> pieces;  ///< by chunk, by rank
};

/// Between two sides, either way. Every chunk is started and finished once a transfer, in order.
class Exchange {
 public:
  Exchange(const Communicator& comm, Transpose how, Side near, Side far);

  /// Before the first chunk: `forward` from near to far, else back. Receives may land from now on.
  void begin(bool forward);
  /// The chunk may be sent.
  void start(std::int64_t chunk);
  /// The chunk has been received.
  void finish(std::int64_t chunk);
  /// All was sent.
  void end();

  /// Sent by this rank, one way and back.
  double bytes_sent() const;
  /// The same of messages point to point; none where a collective does it.
  std::int64_t messages_sent() const;

 private:
  /// A side's pieces as MPI_Alltoallv takes them.
  struct Lists {
    Lists() = default;
    explicit Lists(const Side& side);

    std::vector<int> counts;
    std::vector<int> firsts;
  };

  const Side& from() const { return forward_ ? near_ : far_; }
  const Side& to() const { return forward_ ? far_ : near_; }
  void all_at_once() const;
  void one_after_the_other() const;

  const Communicator& comm_;
  Transpose how_;
  Side near_;
  Side far_;
  Lists near_lists_;  ///< these two for a collective alone
  Lists far_lists_;
  bool forward_ = true;
  std::vector<std::vector<MPI_Request>> receives_;  ///< by chunk
  std::vector<MPI_Request> sends_;
};

}  // namespace halobench::fft

// SPDX-License-Identifier: BSD-3-Clause
// Thin RAII over MPI: every return code goes through check(), every handle frees itself.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace halobench {

struct MpiError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws an MpiError that names the call, unless `code` is MPI_SUCCESS.
void check(int code, const char* call);

/// A count for an MPI call; throws UsageError above 2^31 - 1.
int message_count(std::int64_t count);

/// MPI_Init to MPI_Finalize. Errors come back as codes, not as an abort.
class Environment {
 public:
  Environment(int& argc, char**& argv);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// The thread support that the library really granted: "single", "funneled" ...
  std::string thread_level() const;
};

/// What the library says of itself, on one line.
std::string library_version();

/// A duplicate of a communicator with its rank and size; only what the kernels need.
class Communicator {
 public:
  explicit Communicator(MPI_Comm parent);
  /// The same ranks, in a grid of `extents` ranks, last fastest; not periodic, not reordered.
  Communicator(const Communicator& parent, const std::vector<int>& extents);
  /// The ranks of `parent` that give the same colour, in their order.
  Communicator(const Communicator& parent, int colour);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm handle() const { return handle_; }

  void barrier() const;
  /// In place, the same result on every rank.
  void sum(std::span<double> values) const;
  void max(std::span<double> values) const;
  double sum(double value) const;
  double max(double value) const;
  std::int64_t sum(std::int64_t value) const;
  bool all(bool value) const;
  /// The same outside of timed parts: simulated ranks send no messages, whose simulation takes
  /// time.
  void barrier_untimed() const;
  void sum_untimed(std::span<double> values) const;
  void max_untimed(std::span<double> values) const;
  /// Every rank's text, in rank order, on rank 0; empty elsewhere. Untimed, too.
  std::vector<std::string> gather(const std::string& text) const;
  /// How many ranks of this communicator share this rank's node.
  int ranks_on_node() const;
  /// Which of these this rank is, from 0.
  int rank_on_node() const;

 private:
  bool can_omit_messages() const;

  MPI_Comm handle_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// One clock for all ranks: rank 0's MPI_Wtime, read everywhere.
#pragma once

#include "mpi/communicator.hpp"

namespace halobench {

/// Offsets to rank 0's clock are found along a binomial tree, each from the fastest of some
/// ping-pongs, as in Hunold and Carpen-Amarie, Hierarchical Clock Synchronization in MPI (CLUSTER
/// 2018). Drift is not modelled: synchronise() takes tens of microseconds, so it is called again
/// before each use. Simulated ranks share one clock anyway.
class SharedClock {
 public:
  /// `read_s` is this rank's own clock.
  explicit SharedClock(const Communicator& comm, double (*read_s)() = MPI_Wtime)
      : comm_(comm), read_s_(read_s) {}

  /// Finds the offsets anew. Collective.
  void synchronise();

  double now_s() const { return at_s(read_s_()); }
  /// The common time when this rank's own clock read `read_s`.
  double at_s(double read_s) const { return read_s + offset_s_; }
  /// Returns when now_s() has reached `time_s`; at once if it has passed.
  void wait_until(double time_s) const;
  /// How wrong any rank's clock can be: half of the fastest round trips on the way from rank 0.
  double error_s() const { return error_s_; }

 private:
  void serve(int child) const;
  void follow(int parent);

  const Communicator& comm_;
  double (*read_s_)();
  double offset_s_ = 0;
  double error_s_ = 0;  ///< this rank's while synchronising, then the maximum over ranks
};

}  // namespace halobench

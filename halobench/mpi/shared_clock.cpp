// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shared_clock.hpp"

#include <bit>
#include <limits>

#include "base/simulation.hpp"

namespace halobench {
namespace {

constexpr int exchanges = 20;
constexpr int tag = 2;

struct Reading {
  double now_s;
  double error_s;
};

}  // namespace

void SharedClock::synchronise() {
  if (simulated()) return;
  offset_s_ = 0;
  error_s_ = 0;
  const int rank = comm_.rank();
  for (auto span = std::bit_ceil(static_cast<unsigned>(comm_.size())) / 2; span > 0; span /= 2) {
    const int distance = static_cast<int>(span);
    if (rank % (2 * distance) == 0 && rank + distance < comm_.size()) serve(rank + distance);
    if (rank % (2 * distance) == distance) follow(rank - distance);
  }
  error_s_ = comm_.max(error_s_);
}

void SharedClock::serve(int child) const {
  for (int i = 0; i < exchanges; ++i) {
    check(MPI_Recv(nullptr, 0, MPI_BYTE, child, tag, comm_.handle(), MPI_STATUS_IGNORE),
          "MPI_Recv");
    const Reading reading{now_s(), error_s_};
    check(MPI_Send(&reading, sizeof reading, MPI_BYTE, child, tag, comm_.handle()), "MPI_Send");
  }
}

/// The parent read its clock somewhere between our asking and its answer's arrival.
void SharedClock::follow(int parent) {
  double fastest_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < exchanges; ++i) {
    Reading reading{};
    const double asked_s = read_s_();
    check(MPI_Send(nullptr, 0, MPI_BYTE, parent, tag, comm_.handle()), "MPI_Send");
    check(MPI_Recv(&reading, sizeof reading, MPI_BYTE, parent, tag, comm_.handle(),
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
    const double answered_s = read_s_();
    if (answered_s - asked_s >= fastest_s) continue;
    fastest_s = answered_s - asked_s;
    offset_s_ = reading.now_s - 0.5 * (asked_s + answered_s);
    error_s_ = reading.error_s + 0.5 * fastest_s;
  }
}

void SharedClock::wait_until(double time_s) const {
  if (simulated()) {
    const double left_s = time_s - now_s();
    if (left_s > 0) pass_time(left_s);
    return;
  }
  while (now_s() < time_s) {
  }
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// One clock for all ranks, though their own are far apart: no message arrives before it was sent.
#include "expect.hpp"
#include "mpi/shared_clock.hpp"

using halobench::check;
using halobench::Communicator;
using halobench::SharedClock;

namespace {

/// This rank's own clock, hours away from the others'.
double skewed_s() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return MPI_Wtime() + 5000.0 * rank;
}

void send_time(const Communicator& comm, int to, double now_s) {
  check(MPI_Send(&now_s, 1, MPI_DOUBLE, to, 0, comm.handle()), "MPI_Send");
}

double receive_time(const Communicator& comm, int from) {
  double then_s = 0;
  check(MPI_Recv(&then_s, 1, MPI_DOUBLE, from, 0, comm.handle(), MPI_STATUS_IGNORE), "MPI_Recv");
  return then_s;
}

void nothing_arrives_before_it_was_sent(const Communicator& comm) {
  SharedClock clock(comm, skewed_s);
  clock.synchronise();
  const double tolerance_s = 2 * clock.error_s();
  for (int other = 1; other < comm.size(); ++other) {
    for (int i = 0; i < 20; ++i) {
      if (comm.rank() == 0) {
        send_time(comm, other, clock.now_s());
        const double sent_s = receive_time(comm, other);
        expect::is_true(sent_s <= clock.now_s() + tolerance_s, "to rank 0");
      } else if (comm.rank() == other) {
        const double sent_s = receive_time(comm, 0);
        expect::is_true(sent_s <= clock.now_s() + tolerance_s, "from rank 0");
        send_time(comm, 0, clock.now_s());
      }
    }
  }
}

void rank_0_keeps_its_own_clock(const Communicator& comm) {
  SharedClock clock(comm, skewed_s);
  clock.synchronise();
  if (comm.rank() != 0) return;
  const double before_s = skewed_s();
  const double now_s = clock.now_s();
  expect::is_true(before_s <= now_s && now_s <= skewed_s(), "no offset");
}

void the_error_is_known_to_all(const Communicator& comm) {
  SharedClock clock(comm, skewed_s);
  clock.synchronise();
  expect::equal(clock.error_s(), comm.max(clock.error_s()));
  expect::equal(clock.error_s() > 0, comm.size() > 1);
}

void waiting_ends_at_the_time(const Communicator& comm) {
  SharedClock clock(comm, skewed_s);
  clock.synchronise();
  const double end_s = clock.now_s() + 1e-4;
  clock.wait_until(end_s);
  expect::is_true(clock.now_s() >= end_s, "not before");
  clock.wait_until(end_s - 3600);  // at once: in the past
}

}  // namespace

int main(int argc, char** argv) {
  const halobench::Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  nothing_arrives_before_it_was_sent(comm);
  rank_0_keeps_its_own_clock(comm);
  the_error_is_known_to_all(comm);
  waiting_ends_at_the_time(comm);
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
// Simulated ranks that meet without messages: sums, maxima, texts, and the time at which they
// continue; and parts of the ranks, which must not wait for the others.
#include <array>

#include "base/simulation.hpp"
#include "expect.hpp"
#include "mpi/communicator.hpp"

using namespace halobench;

namespace {

/// Values differ in each round, so that none of the round before is left.
void values_are_those_of_all_ranks(const Communicator& comm) {
  const double ranks = comm.size();
  for (int round = 1; round <= 3; ++round) {
    const double own = round * (comm.rank() + 1.0);
    std::array<double, 2> values{own, -own};
    comm.sum_untimed(values);
    expect::equal(values[0], round * ranks * (ranks + 1) / 2);
    expect::equal(values[1], -round * ranks * (ranks + 1) / 2);
    values = {own, -own};
    comm.max_untimed(values);
    expect::equal(values[0], round * ranks);
    expect::equal(values[1], -round);

    const auto texts = comm.gather(std::to_string(round) + "." + std::to_string(comm.rank()));
    expect::equal(texts.size(), comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 0U);
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      expect::equal(texts[rank], std::to_string(round) + "." + std::to_string(rank));
    }
  }
}

/// The last rank computes for longest; meeting itself takes no time.
void all_continue_with_the_last(const Communicator& comm) {
  for (int round = 0; round < 2; ++round) {
    comm.barrier_untimed();
    const double start_s = simulated_now_s();
    pass_time(1e-3 * comm.rank());
    comm.barrier_untimed();
    expect::near(simulated_now_s() - start_s, 1e-3 * (comm.size() - 1));
  }
}

/// Each half meets another number of times: nobody of the other half comes.
void parts_do_not_wait_for_others(const Communicator& comm) {
  const int half = comm.rank() % 2;
  const Communicator part(comm, half);
  for (int round = 0; round <= half; ++round) {
    part.barrier_untimed();
    std::array<double, 1> ranks{1};
    part.sum_untimed(ranks);
    expect::equal(ranks[0], static_cast<double>(part.size()));
  }
  comm.barrier_untimed();
}

/// One rank makes it, whichever comes first.
void an_object_is_made_once(const Communicator& comm) {
  int made = 0;
  const int value = made_once("test", [&] {
    ++made;
    return 100 + comm.rank();
  });
  std::array<double, 2> all{static_cast<double>(made), static_cast<double>(value)};
  comm.sum_untimed(all);
  expect::equal(all[0], 1.0);
  expect::equal(all[1], static_cast<double>(comm.size()) * value);
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  values_are_those_of_all_ranks(comm);
  all_continue_with_the_last(comm);
  parts_do_not_wait_for_others(comm);
  an_object_is_made_once(comm);
  return expect::exit_code();
}

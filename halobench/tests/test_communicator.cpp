// SPDX-License-Identifier: BSD-3-Clause
// The communicator on any number of ranks: reductions, gathering, errors that name the call.
#include <array>
#include <cstdint>

#include "base/as_size.hpp"
#include "base/usage_error.hpp"
#include "expect.hpp"
#include "mpi/communicator.hpp"

using halobench::as_size;
using halobench::Communicator;

namespace {

void it_is_a_duplicate(const Communicator& comm) {
  int result = MPI_IDENT;
  MPI_Comm_compare(comm.handle(), MPI_COMM_WORLD, &result);
  expect::equal(result, MPI_CONGRUENT);
  expect::equal(comm.ranks_on_node(), comm.size());
}

void ranks_are_reduced_in_place(const Communicator& comm) {
  const double rank = comm.rank();
  const double size = comm.size();
  std::array values{rank, -rank};
  comm.sum(values);
  expect::equal(values[0], size * (size - 1) / 2);
  expect::equal(values[1], -size * (size - 1) / 2);
  values = {rank, -rank};
  comm.max(values);
  expect::equal(values[0], size - 1);
  expect::equal(values[1], 0.0);
  expect::equal(comm.sum(2.0), 2 * size);
  expect::equal(comm.max(rank), size - 1);
}

void whole_numbers_are_summed_exactly(const Communicator& comm) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;  // no double holds it
  expect::equal(comm.sum(odd), odd * comm.size());
}

void all_means_every_rank(const Communicator& comm) {
  expect::equal(comm.all(true), true);
  expect::equal(comm.all(false), false);
  expect::equal(comm.all(comm.rank() != comm.size() - 1), false);
}

void texts_are_gathered_in_rank_order(const Communicator& comm) {
  const auto texts = comm.gather(std::string(as_size(comm.rank()), 'a'));
  expect::equal(texts.size(), comm.rank() == 0 ? as_size(comm.size()) : 0U);
  for (std::size_t i = 0; i < texts.size(); ++i) expect::equal(texts[i], std::string(i, 'a'));
}

void errors_name_the_call(const Communicator& comm) {
  expect::throws<halobench::MpiError>(
      [&] {
        halobench::check(MPI_Send(nullptr, 0, MPI_BYTE, comm.size(), 0, comm.handle()), "MPI_Send");
      },
      "MPI_Send: ");
  halobench::check(MPI_SUCCESS, "MPI_Send");
}

void counts_end_at_two_to_the_31() {
  expect::equal(halobench::message_count(0), 0);
  expect::equal(halobench::message_count(2147483647), 2147483647);
  const auto refused = [](std::int64_t count, const std::string& part) {
    expect::throws<halobench::UsageError>([&] { halobench::message_count(count); }, part);
  };
  refused(2147483648, "a message of 2147483648 elements: the limit of MPI counts is 2^31 - 1");
  refused(-1, "a message of -1 elements");
}

void the_library_says_who_it_is(const halobench::Environment& environment) {
  const auto version = halobench::library_version();
  expect::is_true(!version.empty(), "the version is empty");
  expect::equal(version.find('\n'), std::string::npos);
  const auto level = environment.thread_level();
  expect::is_true(level == "funneled" || level == "serialized" || level == "multiple",
                  "at least MPI_THREAD_FUNNELED was requested, got " + level);
}

}  // namespace

int main(int argc, char** argv) {
  const halobench::Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  it_is_a_duplicate(comm);
  ranks_are_reduced_in_place(comm);
  whole_numbers_are_summed_exactly(comm);
  all_means_every_rank(comm);
  texts_are_gathered_in_rank_order(comm);
  errors_name_the_call(comm);
  counts_end_at_two_to_the_31();
  the_library_says_who_it_is(environment);
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
// halobench: one case, one JSON record. Exit codes: 0 good, 1 wrong answer, 2 bad usage.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "case.hpp"
#include "command.hpp"
#include "mpi/communicator.hpp"

namespace {

int run(int argc, char** argv, const std::vector<std::string>& arguments) {
  const halobench::Environment environment(argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const halobench::Communicator world(MPI_COMM_WORLD);
    return halobench::run_case(halobench::Command::parse(arguments), environment, world);
  } catch (const halobench::UsageError& error) {  // alike on every rank
    if (rank == 0) std::cerr << "halobench: " << error.what() << std::endl;
    return 2;
  } catch (const std::exception& error) {  // perhaps on this rank alone: the others must not wait
    std::cerr << "halobench: rank " << rank << ": " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 3);
    return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (const auto code = halobench::answer(arguments)) return *code;
  } catch (const halobench::UsageError& error) {
    std::cerr << "halobench: " << error.what() << std::endl;
    return 2;
  }
  return run(argc, argv, arguments);
}

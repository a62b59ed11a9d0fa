// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/agreement.hpp"

#include "base/as_size.hpp"
#include "base/usage_error.hpp"

namespace halobench {

void refuse_together(const Communicator& comm, std::string problem) {
  const int none = comm.size();
  int first = problem.empty() ? none : comm.rank();
  check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm.handle()), "MPI_Allreduce");
  if (first == none) return;
  auto length = std::ssize(problem);
  check(MPI_Bcast(&length, 1, MPI_INT64_T, first, comm.handle()), "MPI_Bcast");
  problem.resize(as_size(length));
  check(MPI_Bcast(problem.data(), message_count(length), MPI_CHAR, first, comm.handle()),
        "MPI_Bcast");
  throw UsageError(problem);
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/on_node.hpp"

#include <sstream>

namespace halobench {
namespace {

/// Rank 0's text, on every rank.
std::string shared(const Communicator& comm, std::string text) {
  auto length = message_count(std::ssize(text));
  check(MPI_Bcast(&length, 1, MPI_INT, 0, comm.handle()), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm.handle()), "MPI_Bcast");
  return text;
}

}  // namespace

std::vector<std::string> gathered_on_node(const Communicator& comm, const std::string& text) {
  MPI_Comm of_node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL,
                            &of_node),
        "MPI_Comm_split_type");
  const Communicator node(of_node);
  check(MPI_Comm_free(&of_node), "MPI_Comm_free");
  std::string lines;
  for (const auto& one : node.gather(text)) lines += one + '\n';
  std::istringstream whole(shared(node, lines));
  std::vector<std::string> texts;
  for (std::string line; std::getline(whole, line);) texts.push_back(line);
  return texts;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicator.hpp"

#include <array>
#include <limits>

#include "base/as_size.hpp"
#include "base/simulation.hpp"
#include "base/usage_error.hpp"

namespace halobench {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw MpiError(std::string(call) + ": " + text.data());
}

int message_count(std::int64_t count) {
  if (count < 0 || count > std::numeric_limits<int>::max()) {
    throw UsageError(
        "a message of " + std::to_string(count) +
        " elements: the limit of MPI counts is 2^31 - 1; use more ranks or smaller sizes");
  }
  return static_cast<int>(count);
}

Environment::Environment(int& argc, char**& argv) {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Environment::~Environment() { MPI_Finalize(); }

std::string Environment::thread_level() const {
  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level == MPI_THREAD_MULTIPLE) return "multiple";
  if (level == MPI_THREAD_SERIALIZED) return "serialized";
  return level == MPI_THREAD_FUNNELED ? "funneled" : "single";
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  const std::string whole(text.data());
  return whole.substr(0, whole.find_first_of("\n\r"));
}

Communicator::Communicator(MPI_Comm parent) {
  check(MPI_Comm_dup(parent, &handle_), "MPI_Comm_dup");
  check(MPI_Comm_rank(handle_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(handle_, &size_), "MPI_Comm_size");
}

Communicator::Communicator(const Communicator& parent, const std::vector<int>& extents)
    : rank_(parent.rank_), size_(parent.size_) {
  const std::vector<int> periods(extents.size(), 0);
  check(MPI_Cart_create(parent.handle_, static_cast<int>(extents.size()), extents.data(),
                        periods.data(), 0, &handle_),
        "MPI_Cart_create");
}

Communicator::Communicator(const Communicator& parent, int colour) {
  check(MPI_Comm_split(parent.handle_, colour, parent.rank_, &handle_), "MPI_Comm_split");
  check(MPI_Comm_rank(handle_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(handle_, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() { MPI_Comm_free(&handle_); }

void Communicator::barrier() const { check(MPI_Barrier(handle_), "MPI_Barrier"); }

namespace {

void reduce(MPI_Comm comm, std::span<double> values, MPI_Op operation) {
  check(MPI_Allreduce(MPI_IN_PLACE, values.data(), message_count(std::ssize(values)), MPI_DOUBLE,
                      operation, comm),
        "MPI_Allreduce");
}

}  // namespace

void Communicator::sum(std::span<double> values) const { reduce(handle_, values, MPI_SUM); }
void Communicator::max(std::span<double> values) const { reduce(handle_, values, MPI_MAX); }

/// Simulated ranks are in one process, and all of them take part.
bool Communicator::can_omit_messages() const {
  if (!simulated()) return false;
  int all = 0;
  check(MPI_Comm_size(MPI_COMM_WORLD, &all), "MPI_Comm_size");
  return size_ == all;
}

void Communicator::barrier_untimed() const {
  can_omit_messages() ? wait_for_all_ranks() : barrier();
}

void Communicator::sum_untimed(std::span<double> values) const {
  can_omit_messages() ? sum_without_messages(values) : sum(values);
}

void Communicator::max_untimed(std::span<double> values) const {
  can_omit_messages() ? max_without_messages(values) : max(values);
}

double Communicator::sum(double value) const {
  sum(std::span(&value, 1));
  return value;
}

double Communicator::max(double value) const {
  max(std::span(&value, 1));
  return value;
}

std::int64_t Communicator::sum(std::int64_t value) const {
  check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, handle_), "MPI_Allreduce");
  return value;
}

bool Communicator::all(bool value) const { return max(value ? 0.0 : 1.0) == 0.0; }

std::vector<std::string> Communicator::gather(const std::string& text) const {
  constexpr int tag = 0x7e7;
  if (can_omit_messages()) return gather_without_messages(rank_, text);
  if (rank_ != 0) {
    check(MPI_Send(text.data(), message_count(std::ssize(text)), MPI_CHAR, 0, tag, handle_),
          "MPI_Send");
    return {};
  }
  std::vector<std::string> texts{text};
  for (int rank = 1; rank < size_; ++rank) {
    MPI_Status status;
    int length = 0;
    check(MPI_Probe(rank, tag, handle_, &status), "MPI_Probe");
    check(MPI_Get_count(&status, MPI_CHAR, &length), "MPI_Get_count");
    auto& received = texts.emplace_back(as_size(length), ' ');
    check(MPI_Recv(received.data(), length, MPI_CHAR, rank, tag, handle_, MPI_STATUS_IGNORE),
          "MPI_Recv");
  }
  return texts;
}

namespace {

/// Of the ranks that share this rank's node: how many there are, or which of them it is.
int on_node(MPI_Comm all, int rank, int (*ask)(MPI_Comm, int*), const char* name) {
  MPI_Comm node = MPI_COMM_NULL;
  int found = 0;
  check(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
  check(ask(node, &found), name);
  check(MPI_Comm_free(&node), "MPI_Comm_free");
  return found;
}

}  // namespace

int Communicator::ranks_on_node() const {
  return on_node(handle_, rank_, MPI_Comm_size, "MPI_Comm_size");
}

int Communicator::rank_on_node() const {
  return on_node(handle_, rank_, MPI_Comm_rank, "MPI_Comm_rank");
}

}  // namespace halobench

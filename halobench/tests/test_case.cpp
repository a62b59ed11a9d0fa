// SPDX-License-Identifier: BSD-3-Clause
// A whole case on any number of ranks: its record, its exit code, what is refused; and that a
// message which does not arrive as it should is noticed.
#include <algorithm>
#include <array>
#include <functional>

#include "base/usage_error.hpp"
#include "run_case.hpp"

using expect::Ran;
using expect::run;
using halobench::Command;
using halobench::Communicator;
using halobench::Environment;
using halobench::UsageError;

namespace {

/// What goes wrong with one call of MPI_Recv, MPI_Isend, MPI_Gatherv or MPI_Waitall on this rank.
using Fault = std::function<void(unsigned char*, MPI_Status*)>;
std::int64_t faultless = -1;  ///< calls until it does; negative: nothing goes wrong
Fault fault;
std::array<unsigned char, 64> previous;  ///< what the MPI_Recv before took in

void go_wrong(void* message, MPI_Status* status) {
  if (faultless >= 0 && faultless-- == 0) fault(static_cast<unsigned char*>(message), status);
}

}  // namespace

// In place of the library's own, which are called PMPI_ too.
extern "C" int MPI_Recv(void* place, int count, MPI_Datatype type, int source, int tag,
                        MPI_Comm comm, MPI_Status* status) {
  const int code = PMPI_Recv(place, count, type, source, tag, comm, status);
  if (type != MPI_BYTE) return code;  // texts for the record
  std::array<unsigned char, 64> received{};
  std::copy_n(static_cast<const unsigned char*>(place), count, received.begin());
  go_wrong(place, status);
  previous = received;
  return code;
}

extern "C" int MPI_Isend(const void* message, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  static std::array<std::array<unsigned char, 64>, 64> sent;  // must last until it has arrived
  static std::size_t next = 0;
  auto& copy = sent[next++ % sent.size()];
  const auto* bytes = static_cast<const unsigned char*>(message);
  std::copy_n(bytes, count, copy.begin());
  MPI_Status status;
  go_wrong(copy.data(), &status);
  return PMPI_Isend(copy.data(), count, type, to, tag, comm, request);
}

extern "C" int MPI_Gatherv(const void* own, int count, MPI_Datatype type, void* whole,
                           const int counts[], const int places[], MPI_Datatype types, int root,
                           MPI_Comm comm) {
  const int code = PMPI_Gatherv(own, count, type, whole, counts, places, types, root, comm);
  MPI_Status status;
  go_wrong(whole, &status);
  return code;
}

extern "C" int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const int code = PMPI_Waitall(count, requests, statuses);
  static std::array<unsigned char, 64> nowhere;
  go_wrong(nowhere.data(), statuses);
  return code;
}

namespace {

void the_record_is_one_line_on_rank_0(const Environment& environment, const Communicator& comm) {
  const auto ran = run(environment, comm, {"empty", "repetitions=2", "steps=3"});
  expect::equal(ran.code, 0);
  if (comm.rank() != 0) {
    expect::equal(ran.record, "");
    return;
  }
  expect::equal(ran.record.find('\n'), ran.record.size() - 1);
  expect::contains(ran.record, R"({"schema":1,"kernel":"empty","params":{"repetitions":2,)");
  for (const std::string key :
       {"layout", "toolchain", "clock", "outcome", "reason", "times_s", "steps", "warmup",
        "synchronisation", "points", "phases", "result", "work", "memory", "timer"}) {
    expect::contains(ran.record, ",\"" + key + "\":");
  }
  expect::contains(ran.record, R"("clock":"wall","outcome":"ok","reason":null,)");
  expect::contains(ran.record, R"("steps":3,"warmup":0,)");
  expect::contains(ran.record, R"("points":[],"phases":[])");
  for (int rank = 0; rank < comm.size(); ++rank) {
    expect::contains(ran.record, "{\"rank\":" + std::to_string(rank) + ",\"host\":\"");
  }
}

void rounds_are_reported(const Environment& environment, const Communicator& comm) {
  const auto barrier = run(environment, comm, {"empty", "repetitions=2"});
  const auto rounds =
      run(environment, comm, {"empty", "repetitions=2", "synchronisation=round_time"});
  if (comm.rank() != 0) return;
  expect::contains(barrier.record, R"("synchronisation":"barrier","rounds":null,)");
  expect::contains(rounds.record, R"("steps":1,)");
  expect::contains(rounds.record, R"("synchronisation":"round_time","rounds":{"clock_error_s":)");
  expect::contains(rounds.record, R"(,"late_s":[)");
}

void threads_are_placed(const Environment& environment, const Communicator& comm) {
  const auto ran = run(environment, comm, {"--threads", "2", "empty", "steps=1"});
  if (comm.rank() == 0) expect::contains(ran.record, R"(],"thread_cpus":[[)");
}

void a_sweep_has_its_points(const Environment& environment, const Communicator& comm) {
  const auto ran =
      run(environment, comm,
          {"stream", "sizes=192,12000000", "operation=copy", "repetitions=2", "steps=5"});
  expect::equal(ran.code, 0);
  if (comm.rank() != 0) return;
  expect::contains(ran.record, R"("steps":null,)");
  expect::contains(ran.record, R"("points":[{"size_bytes":192,"operation":"copy",)");
  expect::contains(ran.record, R"(},{"size_bytes":12000000,"operation":"copy",)");
  expect::contains(ran.record, R"("steps":5,"times_s":[)");
  expect::contains(ran.record, R"("result":{"copy_bytes_per_s":)");
  const auto bytes = std::to_string(12000000 * comm.size());  // as a real it would be 1.2e+07
  expect::contains(ran.record,
                   "{\"predicted_bytes\":" + bytes + ",\"allocated_bytes\":" + bytes + ",");
}

void a_sweep_of_one_point_has_it_too(const Environment& environment, const Communicator& comm) {
  const auto ran = run(environment, comm, {"stream", "sizes=192", "operation=dot", "steps=1"});
  if (comm.rank() == 0) expect::contains(ran.record, R"("points":[{"size_bytes":192,)");
}

void flip_a_bit(unsigned char* message, MPI_Status*) { message[15] ^= 1; }
void repeat_the_previous(unsigned char* message, MPI_Status*) {
  std::copy_n(previous.begin(), 16, message);
}
void shorten(unsigned char*, MPI_Status* status) { PMPI_Status_set_elements(status, MPI_BYTE, 15); }
void change_the_sender(unsigned char*, MPI_Status* status) { status->MPI_SOURCE = 7; }
void change_the_tag(unsigned char*, MPI_Status* status) { ++status->MPI_TAG; }

/// A ping-pong of 16 bytes, three steps timed and three checked one by one, in which rank `where`
/// has a `fault` after so many calls: it must be wrong, and say why.
struct Faulty {
  const Environment& environment;
  const Communicator& comm;
  std::vector<std::string> mode;

  Ran run_with(int where, std::int64_t calls, Fault how) const {
    std::vector<std::string> arguments{"pingpong", "sizes=16", "repetitions=1", "warmup=0",
                                       "steps=3"};
    arguments.insert(arguments.end(), mode.begin(), mode.end());
    fault = std::move(how);
    faultless = comm.rank() == where ? calls : -1;
    auto ran = run(environment, comm, arguments);
    expect::equal(faultless, -1);
    return ran;
  }

  void says(int where, std::int64_t calls, Fault how, const std::string& reason) const {
    const auto ran = run_with(where, calls, std::move(how));
    expect::equal(ran.code, 1);
    if (comm.rank() == 0) expect::contains(ran.record, "a message of 16 bytes arrived " + reason);
  }

  void counts(const std::string& messages) const {
    const auto ran = run_with(-1, 0, flip_a_bit);
    expect::equal(ran.code, 0);
    if (comm.rank() == 0) expect::contains(ran.record, "\"checked_messages\":" + messages + ",");
  }
};

/// The last of the timed messages, and each of those that follow them.
void every_message_of_a_pingpong_is_checked(const Environment& environment,
                                            const Communicator& comm) {
  if (comm.size() < 2) return;
  for (const std::string mode : {"mode=imb", "mode=osu"}) {
    const Faulty pingpong{environment, comm, {mode}};
    for (const std::int64_t message : {2, 3, 4, 5}) {
      for (const int rank : {0, 1}) {
        pingpong.says(rank, message, flip_a_bit, "changed");
        if (message > 2) pingpong.says(rank, message, repeat_the_previous, "changed");
        pingpong.says(rank, message, shorten, "with a wrong length, sender, or tag");
        pingpong.says(rank, message, change_the_sender, "with a wrong length, sender, or tag");
        pingpong.says(rank, message, change_the_tag, "with a wrong length, sender, or tag");
      }
    }
    pingpong.counts("6");
  }
}

/// Rank 0 sends two messages a step; both ways, rank 1 does so too.
void every_message_of_a_stream_is_checked(const Environment& environment,
                                          const Communicator& comm) {
  if (comm.size() < 2) return;
  for (const std::string mode : {"stream", "bistream"}) {
    const Faulty stream{environment, comm, {"mode=" + mode, "window=2"}};
    // Rank 0 calls MPI_Isend twice and MPI_Waitall, and one way MPI_Recv; rank 1 ends with
    // MPI_Waitall.
    const std::int64_t sends = mode == "stream" ? 4 : 3;
    const std::int64_t receives = mode == "stream" ? 1 : 3;
    for (const std::int64_t step : {2, 3, 4, 5}) {
      stream.says(0, step * sends, flip_a_bit, "changed");
      stream.says(0, step * sends + 1, flip_a_bit, "changed");
      stream.says(1, step * receives + receives - 1, change_the_tag,
                  "with a wrong length, sender, or tag");
    }
    stream.counts(mode == "stream" ? "6" : "12");
  }
}

void every_element_of_a_sum_is_checked(const Environment& environment, const Communicator& comm) {
  const std::vector<std::string> arguments{"sum3d", "size=6x5x4", "repetitions=1", "warmup=0",
                                           "steps=1"};
  expect::equal(run(environment, comm, arguments).code, 0);
  fault = flip_a_bit;
  faultless = comm.rank() == 0 ? 0 : -1;
  const auto ran = run(environment, comm, arguments);
  expect::equal(ran.code, 1);
  if (comm.rank() == 0) expect::contains(ran.record, "1 of 120 elements of C are not A + B");
}

void a_model_estimates_the_phases(const Environment& environment, const Communicator& comm) {
  const expect::File machine("core_flops_per_s 1e9 1e9\ncores 4 1\nmemory 1 1e10\nmemory 4 4e10\n");
  const auto ran =
      run(environment, comm, {"--machine", machine.path(), "stream", "sizes=192", "operation=dot"});
  if (comm.rank() == 0) expect::equal(ran.record.find("\"model_s\":null"), std::string::npos);
}

void bad_usage_is_refused_alike(const Environment& environment, const Communicator& comm) {
  const auto says = [&](const std::vector<std::string>& arguments, const std::string& part) {
    expect::throws<UsageError>([&] { run(environment, comm, arguments); }, part);
  };
  says({"streem"}, "unknown kernel 'streem'");
  says({"empty", "repetitions=0", "n=3"}, "repetitions=0: give an integer from 1 to 1e+06");
  says({"empty", "repetitions=0", "n=3"}, "\nn=3: no such parameter");
  says({"empty", "steps=1", "steps=2"}, "steps=2: given more than once");
  says({"--machine", "/nowhere", "empty"}, "--machine /nowhere: cannot read this file");
  says({"--execute", "no", "empty"}, "only a simulated run can omit the computation");
  if (comm.size() == 1) says({"pingpong"}, "ranks=1: needs at least 2 ranks");
}

void a_record_that_cannot_be_written_is_an_error(const Environment& environment,
                                                 const Communicator& comm) {
  const auto command = Command::parse({"--out", "/nowhere/at/all", "empty", "steps=1"});
  if (comm.rank() == 0) {
    expect::throws<std::runtime_error>([&] { halobench::run_case(command, environment, comm); },
                                       "--out /nowhere/at/all: cannot be written");
  } else {
    expect::equal(halobench::run_case(command, environment, comm), 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  the_record_is_one_line_on_rank_0(environment, comm);
  rounds_are_reported(environment, comm);
  threads_are_placed(environment, comm);
  a_sweep_has_its_points(environment, comm);
  a_sweep_of_one_point_has_it_too(environment, comm);
  every_message_of_a_pingpong_is_checked(environment, comm);
  every_message_of_a_stream_is_checked(environment, comm);
  every_element_of_a_sum_is_checked(environment, comm);
  a_model_estimates_the_phases(environment, comm);
  bad_usage_is_refused_alike(environment, comm);
  a_record_that_cannot_be_written_is_an_error(environment, comm);
  return expect::exit_code();
}

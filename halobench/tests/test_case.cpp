// A whole case on any number of ranks: its record, its exit code, what is refused; and that a
// message which does not arrive as it should is noticed.
#include <functional>

#include "case.hpp"
#include "expect.hpp"
#include "params.hpp"

using halobench::Command;
using halobench::Communicator;
using halobench::Environment;
using halobench::UsageError;

namespace {

/// What happens to the next messages that MPI_Recv takes in; none left: nothing.
using Fault = std::function<void(void*, MPI_Status*)>;
std::int64_t faultless = -1;  ///< receives until the fault; negative: there is none
Fault fault;

}  // namespace

/// In place of the library's own, which is PMPI_Recv.
extern "C" int MPI_Recv(void* place, int count, MPI_Datatype type, int source, int tag,
                        MPI_Comm comm, MPI_Status* status) {
  const int code = PMPI_Recv(place, count, type, source, tag, comm, status);
  if (faultless >= 0 && faultless-- == 0) fault(place, status);
  return code;
}

namespace {

struct Ran {
  int code;
  std::string record;  ///< on rank 0
};

Ran run(const Environment& environment, const Communicator& comm,
        std::vector<std::string> arguments) {
  const expect::File out;
  arguments.insert(arguments.begin(), {"--out", out.path()});
  const int code = halobench::run_case(Command::parse(arguments), environment, comm);
  return {code, out.text()};
}

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
  const auto ran = run(environment, comm,
                       {"stream", "sizes=192,1920", "operation=copy", "repetitions=2", "steps=5"});
  expect::equal(ran.code, 0);
  if (comm.rank() != 0) return;
  expect::contains(ran.record, R"("steps":null,)");
  expect::contains(ran.record, R"("points":[{"size_bytes":192,"operation":"copy",)");
  expect::contains(ran.record, R"(},{"size_bytes":1920,"operation":"copy",)");
  expect::contains(ran.record, R"("steps":5,"times_s":[)");
  expect::contains(ran.record, R"("result":{"copy_bytes_per_s":)");
  const auto bytes = halobench::Json(1920.0 * comm.size()).dump();
  expect::contains(ran.record, "{\"predicted_bytes\":" + bytes + ",\"allocated_bytes\":" +
                                   std::to_string(1920 * comm.size()) + ",");
}

void a_sweep_of_one_point_has_it_too(const Environment& environment, const Communicator& comm) {
  const auto ran = run(environment, comm, {"stream", "sizes=192", "operation=dot", "steps=1"});
  if (comm.rank() == 0) expect::contains(ran.record, R"("points":[{"size_bytes":192,)");
}

/// Three timed round trips after no warm-up, then three more that are looked at one by one: rank 0
/// receives once in each.
void every_message_of_a_pingpong_is_checked(const Environment& environment,
                                            const Communicator& comm) {
  if (comm.size() < 2) return;
  const auto broken = [&](std::int64_t after, Fault how) {
    fault = std::move(how);
    faultless = comm.rank() == 0 ? after : -1;
    const auto ran =
        run(environment, comm, {"pingpong", "sizes=16", "repetitions=1", "warmup=0", "steps=3"});
    expect::equal(faultless, -1);
    return ran;
  };
  const auto says = [&](const Ran& ran, const std::string& reason) {
    expect::equal(ran.code, 1);
    if (comm.rank() == 0) expect::contains(ran.record, reason);
  };
  const Fault byte = [](void* place, MPI_Status*) { static_cast<unsigned char*>(place)[15] ^= 1; };
  const Fault length = [](void*, MPI_Status* status) {
    PMPI_Status_set_elements(status, MPI_BYTE, 15);
  };
  const Fault sender = [](void*, MPI_Status* status) { status->MPI_SOURCE = 0; };
  const Fault tag = [](void*, MPI_Status* status) { ++status->MPI_TAG; };
  for (const std::int64_t message : {2, 3, 4, 5}) {
    says(broken(message, byte), "a message of 16 bytes arrived changed");
    for (const auto& how : {length, sender, tag}) {
      says(broken(message, how), "a message of 16 bytes arrived with another length");
    }
  }
  const auto good = broken(-1, byte);
  expect::equal(good.code, 0);
  if (comm.rank() == 0) expect::contains(good.record, R"("checked_messages":6,)");
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
  says({"streem"}, "no kernel 'streem'");
  says({"empty", "repetitions=0", "n=3"}, "repetitions=0: give a whole number from 1 to 1e+06");
  says({"empty", "repetitions=0", "n=3"}, "\nn=3: no such parameter");
  says({"--machine", "/nowhere", "empty"}, "--machine /nowhere: can't be read");
  says({"--execute", "no", "empty"}, "only a simulated run can leave out the arithmetic");
  if (comm.size() == 1) says({"pingpong"}, "ranks=1: needs at least 2 ranks");
}

void a_record_that_cannot_be_written_is_an_error(const Environment& environment,
                                                 const Communicator& comm) {
  const auto command = Command::parse({"--out", "/nowhere/at/all", "empty", "steps=1"});
  if (comm.rank() == 0) {
    expect::throws<std::runtime_error>([&] { halobench::run_case(command, environment, comm); },
                                       "--out /nowhere/at/all: can't be written");
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
  a_model_estimates_the_phases(environment, comm);
  bad_usage_is_refused_alike(environment, comm);
  a_record_that_cannot_be_written_is_an_error(environment, comm);
  return expect::exit_code();
}

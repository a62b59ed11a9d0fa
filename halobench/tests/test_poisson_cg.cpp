// The solver on any number of ranks: published iteration counts, and answers that do not depend on
// how the work is exchanged or shared among threads.
#include "case.hpp"
#include "expect.hpp"
#include "mpi/process_grid.hpp"
#include "params.hpp"

using halobench::Command;
using halobench::Communicator;
using halobench::Environment;

namespace {

struct World {
  const Environment& environment;
  const Communicator& comm;
};

/// The record of a case on rank 0, empty elsewhere; it must end with `code`.
std::string record(const World& world, const std::vector<std::string>& arguments, int threads = 1,
                   int code = 0) {
  const expect::File out;
  std::vector<std::string> all{"--out", out.path(), "--threads", std::to_string(threads),
                               "poisson_cg"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const int found = halobench::run_case(Command::parse(all), world.environment, world.comm);
  const auto text = out.text();
  expect::is_true(found == code, "exit code " + std::to_string(found) + ": " + text);
  return text;
}

/// The text from `begin` up to `end`; what a record says of something.
std::string part(const std::string& record, const std::string& begin, const std::string& end) {
  const auto from = record.find(begin);
  if (from == std::string::npos) return "";
  return record.substr(from, record.find(end, from) - from);
}

std::string result(const std::string& record) { return part(record, "\"result\":{", "},\"work\""); }

void published_counts_are_met(const World& world) {
  const std::vector<std::pair<int, int>> published{{32, 48}, {64, 96}, {128, 192}, {256, 387}};
  for (const std::string variant : {"textbook", "fused"}) {
    for (const auto& [n, iterations] : published) {
      const auto found = record(world, {"n=" + std::to_string(n), "variant=" + variant});
      if (world.comm.rank() > 0) continue;
      expect::contains(result(found), "\"iterations\":" + std::to_string(iterations) + ",");
    }
  }
  if (world.comm.size() > 1) return;  // slow where ranks share cores
  for (const std::string variant : {"textbook", "fused"}) {
    const auto found = result(record(world, {"n=512", "variant=" + variant}));
    expect::contains(found, "\"iterations\":783,\"error_max\":1.2494");
  }
}

/// What a case finds, its solution and errors included, whatever the exchange and the threads.
void answers_are_the_same_to_the_last_bit(const World& world,
                                          const std::vector<std::string>& arguments) {
  auto sampled = arguments;
  sampled.insert(sampled.end(), {"surface=65", "exchange=nonblocking"});
  const auto first = result(record(world, sampled));
  for (const int threads : {2, 3}) {
    expect::equal(result(record(world, sampled, threads)), first);
  }
  for (const std::string exchange : {"blocking", "even_odd", "sendrecv", "persistent"}) {
    sampled.back() = "exchange=" + exchange;
    expect::equal(result(record(world, sampled)), first);
  }
}

void the_smallest_grids_are_solved(const World& world) {
  for (int n = 1; n <= 5; ++n) {
    for (const std::string decomposition : {"rows", "blocks"}) {
      for (const std::string variant : {"textbook", "fused"}) {
        const std::vector<std::string> arguments{"n=" + std::to_string(n), "variant=" + variant,
                                                 "decomposition=" + decomposition};
        const int ranks = world.comm.size();
        const int rows = decomposition == "rows" ? ranks : halobench::even_shape(ranks).rows;
        if (n >= rows) {
          record(world, arguments, 2);
        } else {
          expect::throws<halobench::UsageError>([&] { record(world, arguments); },
                                                "fewer rows than ranks");
        }
      }
    }
  }
}

void a_fixed_count_is_kept(const World& world) {
  for (const std::string variant : {"textbook", "fused"}) {
    for (const std::string iterations : {"1", "2", "7", "200"}) {
      const auto found = record(world, {"n=40", "variant=" + variant, "iterations=" + iterations});
      if (world.comm.rank() > 0) continue;
      if (iterations != "200") expect::contains(result(found), "\"iterations\":" + iterations);
    }
  }
}

void a_wrong_answer_says_why(const World& world) {
  const auto reason = [&](const std::vector<std::string>& arguments) {
    return part(record(world, arguments, 1, 1), "\"reason\":", ",\"times_s\"");
  };
  const auto capped = reason({"n=40", "max_iterations=5"});
  const auto rounded = reason({"n=200", "tolerance=1e-15"});
  if (world.comm.rank() > 0) return;
  expect::contains(capped, "not converged after 5 iterations");
  expect::contains(rounded, "above the tolerance 1.000e-15; rounding allows about");
}

void messages_and_memory_are_told(const World& world) {
  const auto size = world.comm.size();
  for (const std::string variant : {"textbook", "fused"}) {
    const auto found = record(world, {"n=64", "variant=" + variant, "iterations=10"}, 2);
    if (world.comm.rank() > 0) continue;
    const int exchanges = variant == "textbook" ? 10 : 11;  // fused begins with one for r
    expect::contains(found, "\"messages\":" + std::to_string(2 * (size - 1) * exchanges) + "}");
    expect::contains(found, variant == "textbook" ? "\"predicted_bytes\":131072,"
                                                  : part(found, "\"allocated_bytes\":", ","));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  const World world{environment, comm};
  published_counts_are_met(world);
  for (const std::string variant : {"textbook", "fused"}) {
    for (const std::string decomposition : {"rows", "blocks"}) {
      for (const std::string n : {"33", "97"}) {
        answers_are_the_same_to_the_last_bit(
            world, {"n=" + n, "variant=" + variant, "decomposition=" + decomposition});
      }
    }
  }
  the_smallest_grids_are_solved(world);
  a_fixed_count_is_kept(world);
  a_wrong_answer_says_why(world);
  messages_and_memory_are_told(world);
  return expect::exit_code();
}

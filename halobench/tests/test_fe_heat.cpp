// SPDX-License-Identifier: BSD-3-Clause
// Heat conduction on any number of ranks: the order of the error, answers that depend neither on
// ranks and threads nor on the operator, and what a record says.
#include <cmath>
#include <map>

#include "base/usage_error.hpp"
#include "kernels/fe_heat/answer.hpp"
#include "run_case.hpp"

using expect::result;
using expect::World;
using halobench::Communicator;
using halobench::Environment;
using halobench::Extents;
using halobench::Memory;
using halobench::Meter;
using halobench::NodeRow;
using halobench::Params;
using halobench::Problem;
using halobench::heat::asymmetry;
using halobench::heat::Bisection;
using halobench::heat::element_matrix;
using halobench::heat::Solver;

namespace {

const std::vector<std::string> operators{"csr", "matrix_free"};

/// What stands behind a key, the first of that name in `text`.
double number(const std::string& text, const std::string& key) {
  return std::stod(expect::part(text, "\"" + key + "\":", ",").substr(key.size() + 3));
}

void errors_fall_with_the_square_of_the_mesh_width(const World& world) {
  double coarser = 0;
  for (const std::string n : {"8", "16", "32"}) {
    const auto found = record(world, {"size=" + n + "x" + n + "x" + n, "operator=matrix_free"});
    if (world.comm.rank() > 0) continue;
    const double error = number(result(found), "error_max");
    if (coarser > 0) {
      expect::is_true(std::abs(std::log2(coarser / error) - 2) < 0.1, "second order at n = " + n);
    }
    coarser = error;
  }
}

/// The mean of a dense elimination, by another program, of tensor products of matrices along the
/// axes.
struct Known {
  std::string size;
  double mean;
  int iterations;
};

void answers_are_the_same_on_any_number_of_ranks(const World& world) {
  for (const auto& [size, mean, iterations] :
       {Known{"7x6x5", 0.19498922958680068, 13}, Known{"2x9x3", 0.36094715308050823, 4},
        Known{"10x11x12", 0.1893411823372264, 24}}) {
    for (const auto& each : operators) {
      const auto found = record(world, {"size=" + size, "operator=" + each, "tolerance=1e-8"});
      if (world.comm.rank() > 0) continue;
      expect::is_true(std::abs(number(result(found), "mean") - mean) < 1e-8, result(found));
      expect::equal(number(result(found), "iterations"), iterations);
    }
  }
}

/// However many threads, and whatever operator: csr's sums are others in the last bits.
void threads_change_nothing(const World& world) {
  for (const auto& each : operators) {
    const std::vector<std::string> arguments{"size=9x8x7", "operator=" + each};
    const auto one = result(record(world, arguments));
    for (const int threads : {2, 3}) expect::equal(result(record(world, arguments, threads)), one);
  }
}

void a_fixed_count_is_kept(const World& world) {
  for (const auto& each : operators) {
    for (const int iterations : {1, 2, 7, 100}) {
      const auto found = record(
          world, {"size=10x11x12", "operator=" + each, "iterations=" + std::to_string(iterations)});
      if (world.comm.rank() > 0) continue;
      expect::equal(number(result(found), "iterations"), iterations);
      expect::contains(result(found), "\"error_max_bound\":null");
      expect::contains(result(found), "\"residual_relative_bound\":null");
    }
  }
}

void repetitions_are_alike(const World& world) {
  const auto once = record(world, {"size=6x6x6"});
  const auto thrice = record(world, {"size=6x6x6", "repetitions=3", "warmup=2"});
  expect::equal(result(thrice), result(once));
}

void a_wrong_answer_says_why(const World& world) {
  const auto reason = [&](const std::vector<std::string>& arguments) {
    return expect::part(record(world, arguments, 1, 1), "\"reason\":", ",\"times_s\"");
  };
  const auto capped = reason({"size=20x20x20", "max_iterations=5"});
  const auto rounded = reason({"size=20x20x20", "tolerance=1e-16"});
  if (world.comm.rank() > 0) return;
  expect::contains(capped, "not converged after 5 iterations");
  expect::contains(rounded, "above the tolerance 1e-16; rounding allows about");
}

void counts_and_memory_are_told(const World& world) {
  const auto size = world.comm.size();
  for (const auto& each : operators) {
    const auto found =
        record(world, {"size=10x11x12", "operator=" + each, "iterations=5"}, size == 1 ? 2 : 1);
    if (world.comm.rank() > 0) continue;
    const bool stored = each == "csr";
    expect::contains(result(found),
                     "\"rows\":990,\"nonzeros\":" + std::string(stored ? "21700" : "null"));
    const std::map<int, std::string> ghosts{{1, "0"}, {2, "180"}, {3, "342"}, {4, "414"}};
    expect::contains(result(found), "\"ghosts\":" + ghosts.at(size) + ",");
    const std::map<int, int> messages{{1, 0}, {2, 2}, {3, 6}, {4, 12}};
    expect::contains(found, "\"messages\":" + std::to_string(5 * messages.at(size)) + "}");
    expect::equal(number(found, "predicted_bytes"), number(found, "allocated_bytes"));
    const double bytes = number(result(found), "bytes_per_row_iteration");
    expect::is_true(stored ? std::abs(bytes - (12 * 21700.0 / 990 + 104)) < 1e-9 : bytes == 72,
                    result(found));
    expect::equal(found.find("\"name\":\"generate\"") != std::string::npos, stored);
  }
}

/// Whether a matrix is symmetric is asked of its products, before each timed solve. The weight of
/// one neighbour is changed, on one side of every node; then all of a rank's, beside another's.
void asymmetry_is_told(const World& world) {
  const Extents elements{6, 7, 8};
  const auto& comm = world.comm;
  for (const auto& each : operators) {
    Meter meter(Meter::Setting{});
    Memory memory(false);
    std::vector<Problem> problems;
    const Params params(halobench::find_kernel("fe_heat").parameters, {}, problems);
    Solver solver({comm, params, meter, memory}, Bisection(elements, comm.size()), each);
    const auto reported = [&](const NodeRow& row) {
      solver.matrix().assemble(row);
      return asymmetry(comm, solver);
    };
    solver.forget();
    solver.assemble();
    const auto good = halobench::node_row(element_matrix(elements));
    expect::equal(reported(good), std::string());
    auto row = good;
    row[halobench::place_in_row(1, 0, 0)] *= 1 + 1e-9;
    if (each == "csr") expect::contains(reported(row), "of a symmetric matrix");
    row = good;
    if (comm.rank() == 0) {
      for (double& weight : row) weight *= 1 + 1e-9;
    }
    if (comm.size() > 1) expect::contains(reported(row), "of a symmetric matrix");
  }
}

void what_can_not_be_shared_out_is_refused(const World& world) {
  const auto& kernel = halobench::find_kernel("fe_heat");
  const auto planned = [&](const std::string& size, int ranks) {
    std::vector<Problem> problems;
    const std::vector<std::string> arguments{"size=" + size};
    const Params params(kernel.parameters, arguments, problems);
    const auto found = kernel.plan(params, {ranks, 1});
    return found.problems.empty() ? std::string() : found.problems.front().message;
  };
  expect::equal(planned("2x2x2", 8), std::string());
  expect::contains(planned("2x2x2", 9), "fewer elements (8) than ranks (9)");
  expect::throws<halobench::UsageError>([&] { record(world, {"size=2x2x1"}); },
                                        "the cube has no interior nodes");
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  const World world{environment, comm, "fe_heat"};
  errors_fall_with_the_square_of_the_mesh_width(world);
  answers_are_the_same_on_any_number_of_ranks(world);
  threads_change_nothing(world);
  a_fixed_count_is_kept(world);
  repetitions_are_alike(world);
  a_wrong_answer_says_why(world);
  counts_and_memory_are_told(world);
  asymmetry_is_told(world);
  what_can_not_be_shared_out_is_refused(world);
  return expect::exit_code();
}

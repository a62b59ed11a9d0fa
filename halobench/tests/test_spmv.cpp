// SPDX-License-Identifier: BSD-3-Clause
// spmv on any number of ranks: its partitions, its blocks, files of matrices, what is refused.
#include <cmath>

#include "base/params.hpp"
#include "kernels/spmv/answer.hpp"
#include "kernels/spmv/distributed_csr.hpp"
#include "kernels/spmv/source.hpp"
#include "matrix_bytes.hpp"
#include "run_case.hpp"

using namespace halobench;

namespace {

/// A short case on two threads per rank.
expect::Ran run(const Environment& environment, const Communicator& comm,
                std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--threads", "2"});
  arguments.insert(arguments.end(), {"repetitions=2", "steps=2"});
  return expect::run(environment, comm, arguments);
}

void every_matrix_and_partition_is_right(const Environment& environment, const Communicator& comm) {
  for (const auto& matrix : recipe_names()) {
    for (const std::string n : {"1", "2", "9", "30"}) {
      if (matrix == "3d27" && n == "30") continue;
      for (const std::string partition : {"rows", "nonzeros"}) {
        const std::string columns = partition == "rows" ? "shared" : "stored";
        const auto ran = run(environment, comm,
                             {"spmv", "matrix=" + matrix, "n=" + n, "partition=" + partition,
                              "row_length=4", "overlap=split_temporary", "columns=" + columns});
        expect::equal(ran.code, 0);
        if (comm.rank() == 0) expect::contains(ran.record, R"("outcome":"ok")");
      }
    }
  }
}

void counts_are_exact(const Environment& environment, const Communicator& comm) {
  const auto ran = run(environment, comm, {"spmv", "matrix=2d5", "n=8"});
  if (comm.rank() != 0) return;
  expect::contains(ran.record, R"("rows":64,"nonzeros":288,)");
  const auto messages = std::to_string(2 * (comm.size() - 1));
  expect::contains(ran.record, "\"messages\":" + messages + "}");
  if (comm.size() == 2 || comm.size() == 4) {  // whole lines of the grid each
    const auto ghosts = std::to_string(16 * (comm.size() - 1));
    expect::contains(ran.record, "\"off_diagonal\":" + ghosts + ",\"ghosts\":" + ghosts + ",");
  }
}

/// All rows of a stencil but those at its borders have the same list.
void a_list_is_stored_once(const Communicator& comm) {
  Meter meter({});
  Memory memory(false);
  std::vector<Problem> problems;
  const Params params({}, {}, problems);
  const auto matrix = generated_rows({"2d5", 12});
  const auto begins = cut_by_rows(matrix->rows(), comm.size());
  const Context context{comm, params, meter, memory};
  const DistributedCsr stored(context, *matrix, begins);
  const DistributedCsr shared(context, *matrix, begins, Columns::shared);
  expect::equal(stored.counts().lists, 0);
  expect::equal(shared.counts().diagonal, stored.counts().diagonal);
  // Inside, with 5; without one of 4 neighbours; or without two of them in a corner: lengths too.
  if (comm.size() == 1) expect::equal(shared.counts().lists, 6 + 4 * 5 + 4 * 4);
  const auto [begin, places, lists, values] = shared.shared_diagonal();
  for (std::int64_t row = 0; row < shared.counts().rows; ++row) {
    const auto* columns = stored.diagonal().columns + begin[row];
    const auto* list = lists + places[row];
    expect::equal<std::int64_t>(*list, begin[row + 1] - begin[row]);
    for (int k = 0; k < *list; ++k) expect::equal<std::int64_t>(row + list[k + 1], columns[k]);
  }
}

void nonzeros_are_shared_out(const Communicator& comm) {
  const auto matrix = generated_rows({"power_law", 5000, 20});
  for (const std::int64_t workers : {comm.size(), 2 * comm.size(), 16 * comm.size()}) {
    const auto begins = cut_by_nonzeros(comm, *matrix, workers);
    expect::equal(begins.front(), 0);
    expect::equal(begins.back(), matrix->rows());
    std::int64_t total = 0;
    std::int64_t longest = 0;
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
      std::int64_t count = 0;
      matrix->visit({begins[i], begins[i + 1]}, [&](std::int64_t, std::span<const Entry> row) {
        count += std::ssize(row);
        longest = std::max(longest, std::ssize(row));
      });
      counts.push_back(count);
      total += count;
    }
    for (const auto count : counts) {
      expect::is_true(std::abs(count - total / workers) <= longest + 1, "shares are alike");
    }
  }
}

void files_are_read_by_all(const Environment& environment, const Communicator& comm) {
  const auto matrix = generated_rows({"3d7", 5});
  expect::MatrixFolder folder(comm);
  folder.write(".csr", expect::MatrixBytes(*matrix).text());
  auto parts = cut_by_rows(matrix->rows(), comm.size());
  if (comm.size() > 1) parts[1] = 3;  // uneven
  folder.write("." + std::to_string(comm.size()) + ".csr",
               expect::MatrixBytes(*matrix, parts).text());
  for (const std::string partition : {"rows", "nonzeros", "graph"}) {
    const auto ran = run(environment, comm,
                         {"--files", folder.path().parent_path().string(), "spmv",
                          "matrix=" + folder.path().filename().string(), "partition=" + partition});
    expect::equal(ran.code, 0);
    if (comm.rank() == 0) expect::contains(ran.record, R"("rows":125,"nonzeros":725,)");
  }
}

void bad_input_is_refused_alike(const Environment& environment, const Communicator& comm) {
  const auto says = [&](const std::vector<std::string>& arguments, const std::string& part) {
    expect::throws<UsageError>([&] { run(environment, comm, arguments); }, part);
  };
  says({"spmv", "matrix=nowhere"}, "nowhere.csr: cannot be read");
  says({"spmv", "matrix=nowhere"}, "give 2d5, 2d9, 3d7, 3d27, random, power_law, or a Matrix");
  says({"spmv", "partition=graph"}, "partition=graph: only for Matrix Market files");
  says({"spmv", "partition=metis"}, "give one of rows, nonzeros, graph");
  says({"spmv", "n=10000000"}, "more than 2^63 - 1 rows");
  says({"spmv", "memory=device", "columns=shared"}, "columns=shared: only in the host's memory");
  expect::MatrixFolder folder(comm);
  const auto text =
      expect::MatrixBytes(*generated_rows({"2d5", 4}), {0, 1, 2, 3, 4, 5, 6, 16}).text();
  folder.write(".csr", text.substr(0, text.size() - 8));
  const auto matrix = "matrix=" + folder.path().string();
  says({"spmv", matrix}, "truncated or damaged");
  folder.write("." + std::to_string(comm.size()) + ".csr", text);
  says({"spmv", matrix, "partition=graph"}, "made for 7 ranks, not for ");
}

/// The check takes nothing from the blocks: one value too many, anywhere, is seen.
void a_wrong_value_is_found(const Communicator& comm) {
  Meter meter({});
  Memory memory(false);
  std::vector<Problem> problems;
  const Params params({}, {}, problems);
  const auto matrix = generated_rows({"2d5", 6});
  const DistributedCsr stored({comm, params, meter, memory}, *matrix,
                              cut_by_rows(matrix->rows(), comm.size()));
  Answer answer(memory, *matrix, stored);
  answer.expect([](std::int64_t i) { return static_cast<double>(i); });
  std::vector<double> y;
  for (auto i = stored.rows().begin; i < stored.rows().end; ++i) {
    double sum = 0;
    matrix->visit({i, i + 1}, [&](std::int64_t, std::span<const Entry> entries) {
      for (const auto& entry : entries) sum += 4 * entry.value * static_cast<double>(entry.column);
    });
    y.push_back(sum);
  }
  expect::equal(answer.wrong(y.data(), 4), 0);
  if (y.empty()) return;
  y.back() += 1;
  expect::equal(answer.wrong(y.data(), 4), 1);
  y.back() = std::nan("");
  expect::equal(answer.wrong(y.data(), 4), 1);
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  every_matrix_and_partition_is_right(environment, comm);
  counts_are_exact(environment, comm);
  a_list_is_stored_once(comm);
  nonzeros_are_shared_out(comm);
  files_are_read_by_all(environment, comm);
  bad_input_is_refused_alike(environment, comm);
  a_wrong_value_is_found(comm);
  return expect::exit_code();
}

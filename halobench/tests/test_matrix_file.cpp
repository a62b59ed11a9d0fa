// SPDX-License-Identifier: BSD-3-Clause
// Binary matrices that are not as they should be: refused alike on every rank, and read by none.
#include <sys/stat.h>

#include <cmath>
#include <functional>
#include <limits>

#include "kernels/spmv/matrix_file.hpp"
#include "matrix_bytes.hpp"
#include "run_case.hpp"

using namespace halobench;
using expect::MatrixBytes;

namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max();
constexpr auto least = std::numeric_limits<std::int64_t>::min();

/// 36 rows, 156 nonzeros.
MatrixBytes good(const Communicator& comm, bool cut) {
  const auto matrix = generated_rows({"2d5", 6});
  if (!cut) return MatrixBytes(*matrix);
  std::vector<std::int64_t> begins(static_cast<std::size_t>(comm.size()) + 1, 36);
  begins.front() = 0;
  return MatrixBytes(*matrix, begins);
}

struct Wrong {
  const char* says;
  std::function<void(MatrixBytes&)> change;
};

/// What is wrong, where the rest of the file fits it.
const std::vector<Wrong> wrong_numbers = {
    {"or another version", [](auto& file) { file.magic = "HALOCSR1"; }},
    {"not a matrix file", [](auto& file) { file.magic = "%%Matrix"; }},
    {"-1 rows", [](auto& file) { file.rows = -1; }},
    {" rows", [](auto& file) { file.rows = least; }},
    {" rows", [](auto& file) { file.rows = most; }},
    {" rows", [](auto& file) { file.rows = most / 8; }},
    {"0 rows", [](auto& file) { file.rows = 0; }},
    {"not the", [](auto& file) { file.rows = 37; }},
    {"not the", [](auto& file) { file.rows = 35; }},
    {"-1 nonzeros", [](auto& file) { file.nonzeros = -1; }},
    {" nonzeros", [](auto& file) { file.nonzeros = least; }},
    {" nonzeros", [](auto& file) { file.nonzeros = most / 2; }},
    {" nonzeros", [](auto& file) { file.nonzeros = std::int64_t{1} << 60U; }},
    {"0 nonzeros", [](auto& file) { file.nonzeros = 0; }},
    {"not the", [](auto& file) { file.nonzeros = 155; }},
    {"-1 parts", [](auto& file) { file.parts = -1; }},
    {" parts", [](auto& file) { file.parts = most; }},
    {" parts", [](auto& file) { file.parts = least; }},
    {"not the", [](auto& file) { file.parts += 3; }},
    {"says 2 for symmetric", [](auto& file) { file.symmetric = 2; }},
    {"says -1 for symmetric", [](auto& file) { file.symmetric = -1; }},
    // Rows and nonzeros wrong by so much that the length is right again.
    {"row", [](auto& file) { file.rows += 2, --file.nonzeros; }},
    {"row", [](auto& file) { file.rows += 310, file.nonzeros -= 155; }},
    {"row 0 begins at nonzero 1", [](auto& file) { file.begins.front() = 1; }},
    {"row 0 begins at nonzero -9", [](auto& file) { file.begins.front() = -9; }},
    {"the last row ends at nonzero 155", [](auto& file) { file.begins.back() -= 1; }},
    {"the last row ends at nonzero 9223", [](auto& file) { file.begins.back() = most; }},
    {"row 17 ends before it begins", [](auto& file) { file.begins[18] = file.begins[17] - 1; }},
    {"row", [](auto& file) { file.begins[9] = -1; }},
    {"row", [](auto& file) { file.begins[9] = least; }},
    {"row", [](auto& file) { file.begins[18] = most; }},
    {"row", [](auto& file) { file.begins[35] = 100000; }},
    {"row 0 begins at nonzero 156", [](auto& file) { std::ranges::reverse(file.begins); }},
    {"has column 36 of 36", [](auto& file) { file.columns.back() = 36; }},
    {"has column 1000000 of 36", [](auto& file) { file.columns[80] = 1000000; }},
    {"of 36", [](auto& file) { file.columns[80] = most; }},
    {"row 0 has column -1 of 36", [](auto& file) { file.columns[0] = -1; }},
    {"of 36", [](auto& file) { file.columns[155] = least; }},
    {"row 0 has column 0 after 1", [](auto& file) { std::swap(file.columns[0], file.columns[1]); }},
    {"row 0 has column 0 after 0", [](auto& file) { file.columns[1] = 0; }},
    {"row 35 has", [](auto& file) { std::swap(file.columns[155], file.columns[154]); }},
    {"row 35 has a value that is not finite",
     [](auto& file) { file.values.back() = std::nan(""); }},
    {"row 0 has a value that is not", [](auto& file) { file.values.front() = HUGE_VAL; }},
    {"has a value that is not finite", [](auto& file) { file.values[77] = -HUGE_VAL; }},
    {"damaged: wrong checksum", [](auto& file) { file.checksum_off_by = 1; }},
};

const std::vector<Wrong> wrong_parts = {
    {"its parts do not increase", [](auto& file) { file.part_begins.front() = 1; }},
    {"its parts do not increase", [](auto& file) { file.part_begins.front() = -1; }},
    {"its parts do not increase", [](auto& file) { file.part_begins.back() = 35; }},
    {"its parts do not increase", [](auto& file) { file.part_begins.back() = 37; }},
    {"its parts do not increase", [](auto& file) { file.part_begins.back() = most; }},
    {"its parts do not increase", [](auto& file) { std::ranges::reverse(file.part_begins); }},
    {"ranks, not for",
     [](auto& file) {
       file.part_begins.insert(file.part_begins.begin(), 0);
       ++file.parts;
     }},
};

const std::vector<std::pair<const char*, std::function<std::string(std::string)>>> wrong_texts = {
    {"truncated", [](auto) { return ""; }},
    {"truncated", [](auto text) { return text.substr(0, 7); }},
    {"truncated", [](auto text) { return text.substr(0, 8); }},
    {"truncated", [](auto text) { return text.substr(0, 47); }},
    {"in 48 bytes", [](auto text) { return text.substr(0, 48); }},
    {"truncated", [](auto text) { return text.substr(0, text.size() - 8); }},
    {"truncated", [](auto text) { return text.substr(0, text.size() - 1); }},
    {"truncated", [](auto text) { return text + "x"; }},
    {"truncated", [](auto text) { return text + "12345678"; }},
    {"truncated", [](auto text) { return text + text; }},
    {"not a matrix file", [](auto text) { return std::string(text.size(), '\0'); }},
    {"not a matrix file", [](auto text) { return std::string(text.size(), '\xff'); }},
};

class Tried {
 public:
  Tried(const Environment& environment, const Communicator& comm)
      : environment_(environment), comm_(comm) {}

  /// The whole case, with every partition: refused before anything is measured.
  void refused(const std::string& text, bool cut, const std::string& says) const {
    expect::MatrixFolder folder(comm_);
    folder.write(cut ? "." + std::to_string(comm_.size()) + ".csr" : ".csr", text);
    const auto partitions =
        cut ? std::vector<std::string>{"graph"} : std::vector<std::string>{"rows", "nonzeros"};
    for (const auto& partition : partitions) {
      expect::throws<UsageError>(
          [&] {
            expect::run(environment_, comm_,
                        {"--threads", "2", "spmv", "partition=" + partition,
                         "matrix=" + folder.path().string()});
          },
          says);
    }
  }

 private:
  const Environment& environment_;
  const Communicator& comm_;
};

void what_is_wrong_is_refused(const Tried& tried, const Communicator& comm) {
  for (const bool cut : {false, true}) {
    for (const auto& [says, change] : wrong_numbers) {
      auto file = good(comm, cut);
      change(file);
      tried.refused(file.text(), cut, says);
    }
    for (const auto& [says, change] : wrong_texts) {
      tried.refused(change(good(comm, cut).text()), cut, says);
    }
  }
  for (const auto& [says, change] : wrong_parts) {
    auto file = good(comm, true);
    change(file);
    tried.refused(file.text(), true, says);
  }
  auto uncut = good(comm, false).text();
  tried.refused(uncut, true, "made for 0 ranks, not for");
}

/// One bit anywhere: refused, whatever it means.
void every_bit_matters(const Tried& tried, const Communicator& comm) {
  const auto text = good(comm, true).text();
  for (std::size_t byte = 0; byte < text.size(); byte += 13) {
    auto other = text;
    other[byte] = static_cast<char>(other[byte] ^ (1 << byte % 8));
    tried.refused(other, true, "; give haloscope the Matrix Market file again, to convert it anew");
  }
}

void what_is_no_plain_file_is_refused(const Environment& environment, const Communicator& comm) {
  expect::MatrixFolder folder(comm);
  const auto path = folder.path().string() + ".csr";
  const auto refused = [&] {
    comm.barrier();
    expect::throws<UsageError>(
        [&] { expect::run(environment, comm, {"spmv", "matrix=" + folder.path().string()}); },
        path + ": is not a file");
    comm.barrier();
    if (comm.rank() == 0) std::filesystem::remove(path);
  };
  if (comm.rank() == 0) mkfifo(path.c_str(), S_IRUSR | S_IWUSR);
  refused();
  if (comm.rank() == 0) std::filesystem::create_directory(path);
  refused();
}

/// As on a node that does not have it.
void a_file_that_one_rank_alone_lacks_is_refused_by_all(const Environment& environment,
                                                        const Communicator& comm) {
  expect::MatrixFolder folder(comm);
  folder.write(".csr", good(comm, false).text());
  const bool lacks = comm.rank() == comm.size() - 1;
  const auto matrix = "matrix=" + folder.path().string() + (lacks ? "-not" : "");
  expect::throws<UsageError>([&] { expect::run(environment, comm, {"spmv", matrix}); },
                             "-not.csr: cannot be read");
}

/// As on a node that has another of the same name.
void files_that_differ_between_ranks_are_refused_by_all(const Environment& environment,
                                                        const Communicator& comm) {
  if (comm.size() == 1) return;
  expect::MatrixFolder folder(comm);
  folder.write("a.csr", good(comm, false).text());
  folder.write("b.csr", MatrixBytes(*generated_rows({"2d5", 7})).text());
  const auto matrix = "matrix=" + folder.path().string() + (comm.rank() == 0 ? "b" : "a");
  expect::throws<UsageError>([&] { expect::run(environment, comm, {"spmv", matrix}); },
                             "damaged: wrong checksum");
}

void any_share_of_rows_is_checked(const Communicator& comm) {
  expect::File disk(MatrixBytes(*generated_rows({"power_law", 3000, 20})).text());
  const MatrixFile file(disk.path());
  for (const std::int64_t shares : {1, 2, 7, 3000, 4001}) {
    std::uint64_t checksum = 0;
    for (std::int64_t part = 0; part < shares; ++part) {
      const auto rows = share({0, file.rows()}, shares, part);
      if (rows.size() == 0) continue;
      const auto checked = file.check(rows);
      expect::equal(checked.problem, "");
      checksum += checked.checksum;
    }
    expect::equal(checksum, file.checksum());
  }
  expect::is_true(comm.size() > 0, "ranks");
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  const Tried tried(environment, comm);
  what_is_wrong_is_refused(tried, comm);
  every_bit_matters(tried, comm);
  what_is_no_plain_file_is_refused(environment, comm);
  a_file_that_one_rank_alone_lacks_is_refused_by_all(environment, comm);
  files_that_differ_between_ranks_are_refused_by_all(environment, comm);
  any_share_of_rows_is_checked(comm);
  return expect::exit_code();
}

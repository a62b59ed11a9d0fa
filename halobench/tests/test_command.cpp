// SPDX-License-Identifier: BSD-3-Clause
// The command line, and the answers that need no MPI.
#include <sstream>

#include "command.hpp"
#include "expect.hpp"

using halobench::Command;
using halobench::UsageError;

namespace {

struct Answer {
  std::optional<int> code;
  std::string text;
};

/// What is written to standard output meanwhile.
Answer ask(const std::vector<std::string>& arguments) {
  const std::ostringstream out;
  auto* before = std::cout.rdbuf(out.rdbuf());
  Answer answer;
  try {
    answer.code = halobench::answer(arguments);
  } catch (...) {
    std::cout.rdbuf(before);
    throw;
  }
  std::cout.rdbuf(before);
  answer.text = out.str();
  return answer;
}

void options_come_before_the_kernel() {
  const auto command = Command::parse({"--out", "o.json", "--machine", "m.txt", "--threads", "3",
                                       "--execute", "no", "stream", "sizes=8", "--strange"});
  expect::equal(command.kernel, "stream");
  expect::equal(command.arguments.size(), 2U);
  expect::equal(command.arguments[0], "sizes=8");
  expect::equal(command.out, "o.json");
  expect::equal(command.machine, "m.txt");
  expect::equal(command.threads, 3);
  expect::equal(command.execute, false);
  const auto bare = Command::parse({"empty"});
  expect::equal(bare.threads, 0);
  expect::equal(bare.execute, true);
  expect::equal(bare.out, "");
}

void bad_options_are_refused() {
  const auto says = [](const std::vector<std::string>& arguments, const std::string& part) {
    expect::throws<UsageError>([&] { Command::parse(arguments); }, part);
  };
  says({"--out"}, "--out: missing value");
  says({"--colour", "red", "empty"}, "--colour red: unknown option");
  says({"--threads", "0", "empty"}, "--threads 0: give an integer from 1 to 4096");
  says({"--threads", "4097", "empty"}, "--threads 4097: give an integer from 1 to 4096");
  says({"--threads", "2x", "empty"}, "--threads 2x: give an integer");
  says({"--threads", "99999999999", "empty"}, "--threads 99999999999: give an integer");
  says({"--execute", "maybe", "empty"}, "--execute maybe: unknown option");
  says({"--threads", "2"}, "missing kernel");
  says({"--out", "x", "--out"}, "usage: halobench");
}

void a_run_has_no_answer_without_mpi() {
  expect::equal(ask({"empty"}).code.has_value(), false);
  expect::equal(ask({"--out", "x", "empty"}).code.has_value(), false);
}

void help_and_the_list_are_answered() {
  expect::contains(ask({"--help"}).text, "usage: halobench");
  expect::contains(ask({}).text, "usage: halobench");
  const auto list = ask({"--list"});
  expect::equal(list.code.value_or(-1), 0);
  for (const auto& kernel : halobench::kernels()) {
    expect::contains(list.text, "{\"name\":\"" + kernel.name + "\",\"summary\":\"");
  }
}

void kernels_are_described() {
  const auto described = ask({"--describe", "empty"});
  expect::equal(described.code.value_or(-1), 0);
  expect::contains(described.text, R"({"name":"empty","summary":")");
  expect::contains(
      described.text,
      R"("paper":null,"sweeps":false,"least_ranks":1,"parameters":[{"name":"repetitions",)");
  expect::contains(described.text, R"({"name":"steps",)");
  expect::throws<UsageError>([] { ask({"--describe", "streem"}); },
                             "unknown kernel 'streem'; known: empty, ");
}

void every_kernel_says_what_it_is() {
  for (const auto& kernel : halobench::kernels()) {
    expect::is_true(!kernel.summary.empty(), kernel.name + " has a summary");
    std::vector<halobench::Problem> problems;
    const halobench::Params params(kernel.all_parameters(), {}, problems);
    for (const auto& parameter : kernel.all_parameters()) {
      expect::is_true(!parameter.help.empty(), kernel.name + " explains " + parameter.name);
      const std::vector<std::string> arguments{parameter.name + "=" + parameter.fallback};
      const halobench::Params typed(kernel.all_parameters(), arguments, problems);
    }
    expect::equal(problems.size(), 0U);
    expect::equal(kernel.plan(params, {4, 2}).problems.size(), 0U);
  }
}

void cases_are_planned() {
  const auto good = ask({"--plan", "stream", "sizes=24K", "ranks=3", "threads=2"});
  expect::equal(good.code.value_or(-1), 0);
  expect::contains(good.text, R"({"params":{"sizes":"24K","operation":"all",)");
  expect::contains(good.text,
                   R"("memory_bytes":73728,"device_bytes":0,"problems":[],"absent":null})");
  const auto lonely = ask({"--plan", "pingpong", "ranks=1"});
  expect::equal(lonely.code.value_or(-1), 2);
  expect::contains(lonely.text,
                   R"([{"key":"ranks","value":"1","message":"needs at least 2 ranks"}])");
  const auto wrong = ask({"--plan", "pingpong", "sizes=x", "colour=red"});
  expect::equal(wrong.code.value_or(-1), 2);
  expect::contains(wrong.text, R"("problems":[{"key":"sizes","value":"x",)");
  expect::contains(wrong.text, R"({"key":"colour","value":"red",)");
  const auto crowded = ask({"--plan", "empty", "threads=100000"});
  expect::equal(crowded.code.value_or(-1), 2);
  expect::contains(crowded.text,
                   R"({"key":"threads","value":"100000","message":"give at most 4096"})");
  expect::throws<UsageError>([] { ask({"--plan", "empty", "ranks=0"}); },
                             "ranks 0: give an integer");
}

void many_cases_are_planned_by_one_process() {
  using namespace std::string_literals;
  std::istringstream asked("stream\0sizes=24K\0\0streem\0\0\0pingpong\0ranks=1\0\0empty\0"s);
  auto* before = std::cin.rdbuf(asked.rdbuf());
  const auto answers = ask({"--plan"});
  std::cin.rdbuf(before);
  expect::equal(answers.code.value_or(-1), 0);
  std::istringstream lines(answers.text);
  std::string line;
  const auto next = [&](const std::string& part) {
    std::getline(lines, line);
    expect::contains(line, part);
  };
  next(R"("memory_bytes":24576,"device_bytes":0,"problems":[],"absent":null})");
  next(R"({"error":"unknown kernel 'streem'; known: empty, )");
  next(R"({"error":"missing kernel"})");
  next(R"([{"key":"ranks","value":"1","message":"needs at least 2 ranks"}])");
  expect::is_true(!std::getline(lines, line), "a case without an end is not answered");
}

/// An incomplete kernel is refused with what it lacks, in every program that has it.
void a_kernel_that_is_not_whole_is_refused() {
  halobench::Kernel kernel;
  const auto refused = [&](const std::string& why) {
    expect::throws<UsageError>([&] { require_whole(kernel, "heat"); }, why);
  };
  kernel.name = "heet";
  refused("set kernel.name = \"heat\"");
  kernel.name = "heat";
  refused("sets no plan");
  kernel.plan = [](const halobench::Params&, const halobench::Shape&) { return halobench::Plan{}; };
  refused("sets no setup");
  kernel.setup = [](const halobench::Context&) { return nullptr; };
  require_whole(kernel, "heat");
}

}  // namespace

int main() {
  options_come_before_the_kernel();
  bad_options_are_refused();
  a_run_has_no_answer_without_mpi();
  help_and_the_list_are_answered();
  kernels_are_described();
  a_kernel_that_is_not_whole_is_refused();
  every_kernel_says_what_it_is();
  cases_are_planned();
  many_cases_are_planned_by_one_process();
  return expect::exit_code();
}

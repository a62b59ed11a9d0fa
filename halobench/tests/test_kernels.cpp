// SPDX-License-Identifier: BSD-3-Clause
// Each small case of kernels with every choice of its parameters, all of which check their own
// answers; on fewer ranks than a kernel needs, that it refuses them. Arguments: threads, and
// kernels: one, or all, of which HALOBENCH_KERNEL selects one.
#include <algorithm>
#include <cstdlib>

#include "case.hpp"
#include "expect.hpp"

using halobench::CaseArguments;
using halobench::Command;
using halobench::Communicator;
using halobench::Environment;
using halobench::Kernel;

namespace {

bool has_key(const std::string& argument, const std::string& key) {
  return argument.starts_with(key + "=");
}

/// `small` with every combination of the choices that the kernel declares and `small` leaves open.
std::vector<CaseArguments> combinations(const Kernel& kernel, const CaseArguments& small) {
  std::vector<CaseArguments> all{small};
  for (const auto& parameter : kernel.parameters) {
    const bool chosen = std::ranges::any_of(
        small, [&](const auto& argument) { return has_key(argument, parameter.name); });
    if (parameter.choices.empty() || chosen) continue;
    std::vector<CaseArguments> longer;
    for (const auto& arguments : all) {
      for (const auto& choice : parameter.choices) {
        longer.push_back(arguments);
        longer.back().push_back(parameter.name + "=" + choice);
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// Runs cases of one kernel.
struct Runner {
  const Environment& environment;
  const Communicator& comm;
  Command command;

  int code(const CaseArguments& arguments, const std::string& out) {
    command.out = out;
    command.arguments = arguments;
    return halobench::run_case(command, environment, comm);
  }

  /// Or it is refused with the reason of its plan, as by a GPU the schedules of an emulated device.
  void is_good(const Kernel& kernel, const CaseArguments& arguments) {
    std::vector<halobench::Problem> problems;
    const halobench::Params params(kernel.all_parameters(), arguments, problems, "");
    const auto plan = kernel.plan_for(params, {comm.size(), command.threads});
    if (problems.empty() && !plan.absent.empty()) {
      expect::throws<halobench::UsageError>([&] { code(arguments, {}); }, plan.absent);
      return;
    }
    const expect::File out;
    std::string text = command.kernel;
    for (const auto& argument : arguments) text += " " + argument;
    expect::is_true(code(arguments, out.path()) == 0, text + ": " + out.text());
  }

  void is_refused(const Kernel& kernel, const CaseArguments& arguments) {
    const auto why = "ranks=" + std::to_string(comm.size()) + ": needs at least " +
                     std::to_string(kernel.least_ranks) + " ranks";
    expect::throws<halobench::UsageError>([&] { code(arguments, {}); }, why);
  }
};

void test_kernel(Runner& runner, const Kernel& kernel) {
  runner.command.kernel = kernel.name;
  expect::is_true(!kernel.small.empty(), kernel.name + " has no small case");
  for (const auto& small : kernel.small) {
    if (runner.comm.size() < kernel.least_ranks) {
      runner.is_refused(kernel, small);
      continue;
    }
    for (const auto& arguments : combinations(kernel, small)) runner.is_good(kernel, arguments);
    auto rounds = small;
    rounds.emplace_back("synchronisation=round_time");
    runner.is_good(kernel, rounds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  Runner runner{environment, comm, {}};
  runner.command.threads = std::stoi(argv[1]);
  std::string name = argv[2];
  const auto* selected = std::getenv("HALOBENCH_KERNEL");
  if (name == "all" && selected != nullptr) name = selected;
  if (name != "all") {
    test_kernel(runner, halobench::find_kernel(name));
    return expect::exit_code();
  }
  for (const auto& kernel : halobench::kernels()) {
    if (comm.rank() == 0) std::cout << kernel.name << std::endl;  // the last one if it hangs
    test_kernel(runner, kernel);
  }
  return expect::exit_code();
}

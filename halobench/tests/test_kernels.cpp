// One kernel with every choice of its parameters: each case checks its own answer.
// Arguments: threads, the kernel, and what makes it small (key=value ...).
#include "case.hpp"
#include "expect.hpp"

using halobench::Command;
using halobench::Communicator;
using halobench::Environment;

namespace {

/// Every combination of the choices that the kernel declares, each as key=value arguments.
std::vector<std::vector<std::string>> combinations(const halobench::Kernel& kernel) {
  std::vector<std::vector<std::string>> all{{}};
  for (const auto& parameter : kernel.parameters) {
    if (parameter.choices.empty()) continue;
    std::vector<std::vector<std::string>> longer;
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

void run(Command command, const std::vector<std::string>& choices, const Environment& environment,
         const Communicator& comm) {
  const expect::File out;
  command.out = out.path();
  command.arguments.insert(command.arguments.end(), choices.begin(), choices.end());
  const int code = halobench::run_case(command, environment, comm);
  std::string text;
  for (const auto& choice : choices) text += " " + choice;
  expect::is_true(code == 0, command.kernel + text + ": " + out.text());
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  Command command;
  command.threads = std::stoi(arguments.at(0));
  command.kernel = arguments.at(1);
  command.arguments.assign(arguments.begin() + 2, arguments.end());
  const auto kernel = halobench::find_kernel(command.kernel);
  for (const auto& choices : combinations(kernel)) run(command, choices, environment, comm);
  run(command, {"synchronisation=round_time"}, environment, comm);
  return expect::exit_code();
}

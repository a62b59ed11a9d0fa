// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <limits>

namespace halobench {
namespace {

constexpr const char* usage =
    "usage: halobench [--out FILE] [--machine FILE] [--files FOLDER] [--threads T] "
    "[--execute yes|no] KERNEL key=value ...\n"
    "       (under mpirun, srun or smpirun: one case, one JSON record)\n"
    "       halobench --list | --describe KERNEL | --plan KERNEL key=value ... ranks=R threads=T "
    "files=FOLDER\n"
    "       halobench --plan (reads them, each ended by a zero byte, a case by another)\n";

int whole_number(const std::string& key, const std::string& text,
                 int most = std::numeric_limits<int>::max()) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most) {
    throw UsageError(key + " " + text + ": give an integer from 1 to " + std::to_string(most));
  }
  return value;
}

void list() {
  Json names = Json::array();
  for (const auto& kernel : kernels()) {
    names.push(Json::object().set("name", kernel.name).set("summary", kernel.summary));
  }
  std::cout << Json::object().set("kernels", names).dump() << "\n";
}

void describe(const std::string& name) {
  const auto kernel = find_kernel(name);
  Json parameters = Json::array();
  for (const auto& parameter : kernel.all_parameters()) parameters.push(parameter.describe());
  const auto described = [](const std::vector<Result>& results) {
    Json all = Json::array();
    for (const auto& result : results) all.push(result.describe());
    return all;
  };
  std::cout << Json::object()
                   .set("name", kernel.name)
                   .set("summary", kernel.summary)
                   .set("paper", kernel.paper.empty() ? Json() : Json(kernel.paper))
                   .set("sweeps", kernel.sweeps)
                   .set("least_ranks", kernel.least_ranks)
                   .set("parameters", parameters)
                   .set("results", described(kernel.results))
                   .set("point_results", described(kernel.point_results))
                   .dump()
            << "\n";
}

/// Takes key=value out of `arguments`; nothing if it is missing.
std::optional<std::string> take(std::vector<std::string>& arguments, const std::string& key) {
  const auto found = std::ranges::find_if(
      arguments, [&](const std::string& argument) { return argument.starts_with(key + "="); });
  if (found == arguments.end()) return std::nullopt;
  auto value = found->substr(key.size() + 1);
  arguments.erase(found);
  return value;
}

int plan(const std::string& name, std::vector<std::string> arguments) {
  const auto kernel = find_kernel(name);
  const auto ranks = take(arguments, "ranks").value_or("1");
  const auto threads = take(arguments, "threads").value_or("1");
  const Shape shape{whole_number("ranks", ranks), whole_number("threads", threads)};
  const auto files = take(arguments, "files").value_or("");
  std::vector<Problem> problems;
  const Params params(kernel.all_parameters(), arguments, problems, files);
  if (shape.threads > most_threads) {
    problems.push_back({"threads", threads, "give at most " + std::to_string(most_threads)});
  }
  Plan planned = problems.empty() ? kernel.plan_for(params, shape) : Plan{0, problems};
  Json refused = Json::array();
  for (const auto& problem : planned.problems) {
    refused.push(Json::object()
                     .set("key", problem.key)
                     .set("value", problem.value)
                     .set("message", problem.message));
  }
  std::cout << Json::object()
                   .set("params", params.resolved(planned.choices))
                   .set("memory_bytes", planned.memory_bytes)
                   .set("device_bytes", planned.device_bytes)
                   .set("problems", refused)
                   .set("absent", planned.absent.empty() ? Json() : Json(planned.absent))
                   .dump()
            << "\n";
  return planned.problems.empty() ? 0 : 2;
}

/// Answers on a line for each case that is read: many are planned by one process.
void plan_all(std::istream& asked) {
  std::vector<std::string> words;
  for (std::string word; std::getline(asked, word, '\0');) {
    if (!word.empty()) {
      words.push_back(word);
      continue;
    }
    try {
      if (words.empty()) throw UsageError("missing kernel");
      plan(words[0], {words.begin() + 1, words.end()});
    } catch (const UsageError& error) {
      std::cout << Json::object().set("error", error.what()).dump() << "\n";
    }
    std::cout << std::flush;
    words.clear();
  }
}

}  // namespace

Kernel find_kernel(const std::string& name) {
  const auto& all = kernels();
  const auto found = std::ranges::find(all, name, &Kernel::name);
  if (found != all.end()) return *found;
  std::string known;
  for (const auto& kernel : all) known += (known.empty() ? "" : ", ") + kernel.name;
  throw UsageError("unknown kernel '" + name + "'; known: " + known);
}

Command Command::parse(const std::vector<std::string>& arguments) {
  Command command;
  std::size_t i = 0;
  for (; i < arguments.size() && arguments[i].starts_with("--"); i += 2) {
    const auto& option = arguments[i];
    if (i + 1 == arguments.size()) throw UsageError(option + ": missing value\n" + usage);
    const auto& value = arguments[i + 1];
    if (option == "--out") {
      command.out = value;
    } else if (option == "--machine") {
      command.machine = value;
    } else if (option == "--files") {
      command.files = value;
    } else if (option == "--threads") {
      command.threads = whole_number(option, value, most_threads);
    } else if (option == "--execute" && (value == "yes" || value == "no")) {
      command.execute = value == "yes";
    } else {
      throw UsageError(option + " " + value + ": unknown option\n" + usage);
    }
  }
  if (i == arguments.size()) throw UsageError(std::string("missing kernel\n") + usage);
  command.kernel = arguments[i];
  command.arguments.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
  return command;
}

std::optional<int> answer(const std::vector<std::string>& arguments) {
  const auto first = arguments.empty() ? "--help" : arguments[0];
  if (first == "--help") {
    std::cout << usage;
  } else if (first == "--list") {
    list();
  } else if (first == "--describe" && arguments.size() == 2) {
    describe(arguments[1]);
  } else if (first == "--plan" && arguments.size() == 1) {
    plan_all(std::cin);
  } else if (first == "--plan") {
    return plan(arguments[1], {arguments.begin() + 2, arguments.end()});
  } else {
    return std::nullopt;
  }
  return 0;
}

}  // namespace halobench

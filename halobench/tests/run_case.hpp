// SPDX-License-Identifier: BSD-3-Clause
// A whole case, run as the program runs it, for tests that look at its record.
#pragma once

#include <string>
#include <vector>

#include "case.hpp"
#include "expect.hpp"

namespace expect {

struct Ran {
  int code;
  std::string record;  ///< on rank 0, empty elsewhere
};

/// `arguments`: options, the kernel's name, its parameters.
inline Ran run(const halobench::Environment& environment, const halobench::Communicator& comm,
               std::vector<std::string> arguments) {
  const File out;
  arguments.insert(arguments.begin(), {"--out", out.path()});
  const int code = halobench::run_case(halobench::Command::parse(arguments), environment, comm);
  return {code, out.text()};
}

/// Where the cases of a kernel run. shared: parameters that all of them have.
struct World {
  const halobench::Environment& environment;
  const halobench::Communicator& comm;
  std::string kernel;
  std::vector<std::string> shared = {};
};

/// The record of a case on rank 0, empty elsewhere; it must end with `code`.
inline std::string record(const World& world, const std::vector<std::string>& parameters,
                          int threads = 1, int code = 0) {
  std::vector<std::string> all{"--threads", std::to_string(threads), world.kernel};
  all.insert(all.end(), world.shared.begin(), world.shared.end());
  all.insert(all.end(), parameters.begin(), parameters.end());
  const auto ran = run(world.environment, world.comm, all);
  is_true(ran.code == code, "exit code " + std::to_string(ran.code) + ": " + ran.record);
  return ran.record;
}

/// The text from `begin` up to `end`: what a record says of something. Empty if it says nothing.
inline std::string part(const std::string& record, const std::string& begin,
                        const std::string& end) {
  const auto from = record.find(begin);
  if (from == std::string::npos) return "";
  return record.substr(from, record.find(end, from) - from);
}

/// What the kernel found.
inline std::string result(const std::string& record) {
  return part(record, "\"result\":{", "},\"work\"");
}

}  // namespace expect

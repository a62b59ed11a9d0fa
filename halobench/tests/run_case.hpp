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

/// The text from `begin` up to `end`: what a record says of something. Empty if it says nothing.
inline std::string part(const std::string& record, const std::string& begin,
                        const std::string& end) {
  const auto from = record.find(begin);
  if (from == std::string::npos) return "";
  return record.substr(from, record.find(end, from) - from);
}

}  // namespace expect

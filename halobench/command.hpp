// SPDX-License-Identifier: BSD-3-Clause
// The command line of halobench: what was requested, and the answers that need no MPI.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel.hpp"

namespace halobench {

/// The most OpenMP threads of a rank: more than any node has processors, and far below the 100,000
/// at which libgomp, which keeps what it knows of each on the stack, dies by SIGSEGV.
constexpr int most_threads = 4096;

/// halobench [--out FILE] [--machine FILE] [--files FOLDER] [--threads T] [--execute yes|no] KERNEL
/// key=value ...
struct Command {
  std::string kernel;
  std::vector<std::string> arguments;  ///< key=value
  std::string out;                     ///< the record goes here; empty: standard output
  std::string machine;                 ///< the node model's numbers; empty: none
  std::string files;                   ///< has the files that parameters name; empty: here
  int threads = 0;                     ///< OpenMP threads per rank; 0: OpenMP's default
  bool execute = true;                 ///< under simulation: run the arithmetic too

  /// Throws UsageError.
  static Command parse(const std::vector<std::string>& arguments);
};

/// Answers --help, --list, --describe KERNEL and --plan KERNEL ... on standard output, without MPI.
/// The exit code, or nothing if the command line requests a run.
std::optional<int> answer(const std::vector<std::string>& arguments);

/// The kernel of that name; throws UsageError listing those there are.
Kernel find_kernel(const std::string& name);

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Checks for the unit tests: a failure names its line, and any rank's failure fails the program.
// Our own, because it must agree over MPI ranks and be there on machines without root.
#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <source_location>
#include <string>

namespace expect {

inline int& failures() {
  static int count = 0;
  return count;
}

inline void is_true(bool good, const std::string& what,
                    std::source_location where = std::source_location::current()) {
  if (good) return;
  ++failures();
  std::cerr << where.file_name() << ":" << where.line() << ": " << what << std::endl;
}

template <class Left, class Right>
void equal(const Left& found, const Right& expected,
           std::source_location where = std::source_location::current()) {
  if (found == expected) return;
  ++failures();
  std::cerr << where.file_name() << ":" << where.line() << ": found " << found << ", expected "
            << expected << std::endl;
}

/// `text` must have `part` in it.
inline void contains(const std::string& text, const std::string& part,
                     std::source_location where = std::source_location::current()) {
  is_true(text.find(part) != std::string::npos, "'" + part + "' is not in '" + text + "'", where);
}

/// `body` must throw an `Error` whose text contains `part`.
template <class Error, class Body>
void throws(Body&& body, const std::string& part,
            std::source_location where = std::source_location::current()) {
  try {
    body();
  } catch (const Error& error) {
    contains(error.what(), part, where);
    return;
  }
  is_true(false, "nothing was thrown", where);
}

/// What main returns.
inline int exit_code() { return failures() == 0 ? 0 : 1; }

/// Two values are the same to the last few bits.
inline void near(double found, double expected,
                 std::source_location where = std::source_location::current()) {
  if (std::abs(found - expected) <= 1e-12 * std::abs(expected)) return;
  expect::equal(found, expected, where);
}

/// A file of its own for this process, deleted at the end.
class File {
 public:
  explicit File(const std::string& text = {})
      : path_(std::filesystem::temp_directory_path() /
              ("halobench-test-" + std::to_string(getpid()) + "-" + std::to_string(++count()))) {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path() const { return path_.string(); }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static int& count() {
    static int files = 0;
    return files;
  }
  std::filesystem::path path_;
};

}  // namespace expect

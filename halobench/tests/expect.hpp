// Checks for the unit tests: a failure names its line, and any rank's failure fails the program.
// Our own, because it must agree over MPI ranks and be there on machines without root.
#pragma once

#include <iostream>
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
void equal(const Left& found, const Right& wanted,
           std::source_location where = std::source_location::current()) {
  if (found == wanted) return;
  ++failures();
  std::cerr << where.file_name() << ":" << where.line() << ": found " << found << ", wanted "
            << wanted << std::endl;
}

/// `body` must throw an `Error` whose text contains `part`.
template <class Error, class Body>
void throws(Body&& body, const std::string& part,
            std::source_location where = std::source_location::current()) {
  try {
    body();
  } catch (const Error& error) {
    is_true(std::string(error.what()).find(part) != std::string::npos,
            "the error says '" + std::string(error.what()) + "', not '" + part + "'", where);
    return;
  }
  is_true(false, "nothing was thrown", where);
}

}  // namespace expect

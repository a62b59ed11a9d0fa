// SPDX-License-Identifier: BSD-3-Clause
// The size of the last cache, from the system or from the variable that replaces it.
#include <cstdlib>

#include "base/usage_error.hpp"
#include "expect.hpp"
#include "machine/cache.hpp"

using halobench::last_cache_bytes;
using halobench::last_cache_share_bytes;
using halobench::second_cache_share_bytes;

namespace {

constexpr const char* variable = "HALOBENCH_LAST_CACHE_BYTES";

void the_system_tells_of_it() {
  unsetenv(variable);
  const auto bytes = last_cache_bytes();
  const auto share = last_cache_share_bytes();
  expect::is_true(bytes >= 0 && share >= 0 && share <= bytes, "a share is at most the whole");
  expect::equal(share > 0, bytes > 0);
  const auto second = second_cache_share_bytes();
  expect::is_true(second >= 0 && second <= bytes, "no cache is larger than the largest");
}

void a_test_tells_another_size() {
  setenv(variable, "503316480", 1);
  expect::equal(last_cache_bytes(), 503316480);
  expect::equal(last_cache_share_bytes(), 503316480);
  for (const auto* wrong : {"", "1M", "-1", "x"}) {
    setenv(variable, wrong, 1);
    expect::throws<halobench::UsageError>([] { last_cache_bytes(); }, "give an integer");
  }
}

}  // namespace

int main() {
  the_system_tells_of_it();
  a_test_tells_another_size();
  return expect::exit_code();
}

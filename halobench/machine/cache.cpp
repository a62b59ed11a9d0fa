// SPDX-License-Identifier: BSD-3-Clause
#include "machine/cache.hpp"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/simulation.hpp"
#include "base/usage_error.hpp"

namespace halobench {
namespace {

struct Cache {
  std::int64_t bytes = 0;
  std::int64_t processors = 1;  ///< that share it
  int level = 0;
};

/// How many bits are set in a mask as /sys writes it: "00000000,0000000f".
std::int64_t processors_in(const std::string& mask) {
  std::int64_t count = 0;
  for (const char digit : mask) {
    if (digit != ',') count += std::popcount(std::stoul(std::string(1, digit), nullptr, 16));
  }
  return count;
}

/// The `index`th cache of the first processor.
std::optional<Cache> read_cache(int index) {
  const auto folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
  std::ifstream size(folder + "/size");
  std::ifstream shared(folder + "/shared_cpu_map");
  Cache cache;
  char unit = 'K';  // "32768K"
  if (!(size >> cache.bytes >> unit)) return {};
  cache.bytes <<= unit == 'M' ? 20 : 10;
  std::string mask;
  if (shared >> mask) cache.processors = processors_in(mask);
  std::ifstream(folder + "/level") >> cache.level;
  return cache;
}

/// What the environment says in place of the system.
std::optional<std::int64_t> given_bytes() {
  const char* given = std::getenv("HALOBENCH_LAST_CACHE_BYTES");
  if (given == nullptr || simulated()) return {};
  const std::string_view text = given;
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{} || end != text.data() + text.size() || bytes < 0) {
    throw UsageError("HALOBENCH_LAST_CACHE_BYTES=" + std::string(text) +
                     ": give an integer from 0");
  }
  return bytes;
}

/// The largest of them.
Cache last_cache() {
  if (const auto bytes = given_bytes()) return {*bytes, 1};
  Cache last;
  for (int index = 0; !simulated(); ++index) {
    const auto cache = read_cache(index);
    if (!cache) break;
    if (cache->bytes > last.bytes) last = *cache;
  }
  return last;
}

}  // namespace

std::int64_t last_cache_bytes() { return last_cache().bytes; }

std::int64_t last_cache_share_bytes() {
  const auto last = last_cache();
  return last.bytes / last.processors;
}

std::int64_t second_cache_share_bytes() {
  for (int index = 0; !simulated(); ++index) {
    const auto cache = read_cache(index);
    if (!cache) break;
    if (cache->level == 2) return cache->bytes / cache->processors;
  }
  return 0;
}

}  // namespace halobench

#include "machine/cache.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "machine/simulation.hpp"

namespace halobench {
namespace {

struct Cache {
  int level = 0;
  std::int64_t bytes = 0;
};

/// The `index`th cache of the first processor that holds data; a size of 0 where it holds none.
std::optional<Cache> read_cache(int index) {
  const auto folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
  std::ifstream level(folder + "/level");
  std::ifstream type(folder + "/type");
  std::ifstream size(folder + "/size");
  Cache cache;
  std::string held;
  char unit = 'K';  // "32768K"
  if (!(level >> cache.level) || !(type >> held) || !(size >> cache.bytes >> unit)) return {};
  cache.bytes = held == "Instruction" ? 0 : cache.bytes << (unit == 'M' ? 20 : 10);
  return cache;
}

/// The largest of the caches that `wanted(level)` picks.
template <class Wanted>
std::int64_t largest(const Wanted& wanted) {
  std::int64_t bytes = 0;
  for (int index = 0; !simulated(); ++index) {
    const auto cache = read_cache(index);
    if (!cache) break;
    if (wanted(cache->level)) bytes = std::max(bytes, cache->bytes);
  }
  return bytes;
}

}  // namespace

std::int64_t last_cache_bytes() {
  return largest([](int) { return true; });
}

std::int64_t cache_bytes(int level) {
  return largest([level](int each) { return each == level; });
}

}  // namespace halobench

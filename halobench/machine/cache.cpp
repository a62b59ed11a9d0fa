#include "machine/cache.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "machine/simulation.hpp"

namespace halobench {

std::int64_t last_cache_bytes() {
  if (simulated()) return 0;
  std::int64_t largest = 0;
  for (int index = 0;; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                       "/size");
    std::int64_t size = 0;  // "32768K"
    char unit = 'K';
    if (!(file >> size >> unit)) return largest;
    largest = std::max(largest, size << (unit == 'M' ? 20 : 10));
  }
}

}  // namespace halobench

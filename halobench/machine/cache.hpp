// How large this machine's caches are.
#pragma once

#include <cstdint>

namespace halobench {

/// Bytes of the largest cache that this system names (/sys); 0 where it names none, and under
/// simulation, where there are no caches to be in or out of.
std::int64_t last_cache_bytes();

/// Bytes of a core's data cache of that level (1, 2 ...); 0 as above.
std::int64_t cache_bytes(int level);

}  // namespace halobench

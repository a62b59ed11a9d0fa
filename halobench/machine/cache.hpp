// SPDX-License-Identifier: BSD-3-Clause
// How large this machine's caches are.
#pragma once

#include <cstdint>

namespace halobench {

/// Bytes of the largest cache that this system names (/sys); 0 where it names none, and under
/// simulation, where there are no caches to be in or out of. The variable
/// HALOBENCH_LAST_CACHE_BYTES says another number in its place: for tests, whose messages leave a
/// small cache sooner.
std::int64_t last_cache_bytes();

/// The same divided by the processors that share it: one core's share.
std::int64_t last_cache_share_bytes();

/// One core's share of the second-level cache; 0 where the system names none, and under simulation.
std::int64_t second_cache_share_bytes();

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// How large this machine's caches are.
#pragma once

#include <cstdint>

namespace halobench {

/// Size in bytes of the largest cache listed in /sys; 0 if none is listed, and under simulation,
/// which has no caches. The variable HALOBENCH_LAST_CACHE_BYTES replaces this number, for tests,
/// whose messages exceed a small cache sooner.
std::int64_t last_cache_bytes();

/// The same divided by the processors that share it: one core's share.
std::int64_t last_cache_share_bytes();

/// One core's share of the second-level cache; 0 where the system names none, and under simulation.
std::int64_t second_cache_share_bytes();

}  // namespace halobench

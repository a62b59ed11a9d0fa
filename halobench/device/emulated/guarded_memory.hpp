// SPDX-License-Identifier: BSD-3-Clause
// Memory at two addresses: one that nobody may touch, and one for those who may.
#pragma once

#include <cstdint>
#include <string>

namespace halobench {

/// Memory whose own address faults: an access there ends the process with code 3, and prints the
/// array and the calls that led there on standard error. The bytes are accessible at another
/// address. The memory is filled with NaN, begins at a multiple of 64, and ends before a page that
/// faults at either address. Throws std::bad_alloc. One thread allocates and releases.
void* allocate_guarded(std::int64_t bytes);

/// Both addresses fault from now on: none of them is given out again.
void release_guarded(void* guarded);

/// Whether the address is in guarded memory that is allocated.
bool is_guarded(const void* address);

/// Where the same byte is open. Throws std::logic_error where it is not guarded memory.
void* open_address(const void* guarded);

/// What a fault's message calls this process: "rank 3".
void name_in_faults(const std::string& name);

}  // namespace halobench

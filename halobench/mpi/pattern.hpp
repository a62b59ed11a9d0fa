// SPDX-License-Identifier: BSD-3-Clause
// What a message carries, so that it can be told from every other: 64-bit words counted up from a
// seed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

namespace halobench {

/// A seed for what these numbers name (round, sender, size ...); any two lists differ by chance
/// alone.
std::uint64_t pattern_seed(std::initializer_list<std::int64_t> names);

void write_pattern(std::span<unsigned char> message, std::uint64_t seed);
/// No byte is what it should become: nothing that was there before is taken for the message.
void write_opposite(std::span<unsigned char> message, std::uint64_t seed);
bool has_pattern(std::span<const unsigned char> message, std::uint64_t seed);

}  // namespace halobench

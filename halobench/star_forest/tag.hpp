// SPDX-License-Identifier: BSD-3-Clause
// The tags of a star forest's messages say what they carry, so that ranks notice where they begin
// different operations.
#pragma once

#include <string>

#include "star_forest/space.hpp"

namespace halobench {

/// Where the values of an operation go: those of a broadcast, or of a reduction.
enum class Way { to_leaves, to_roots };

/// Different for any two operations but those whose widths differ by a multiple of 1024.
int tag_of(Way way, const Unit& unit, Operation operation);

/// What tag_of() says, in words: "bcast of 1 double with replace".
std::string said_by(int tag);

}  // namespace halobench

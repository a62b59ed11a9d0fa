// SPDX-License-Identifier: BSD-3-Clause
// How a kernel is given the memory to work in.
#pragma once

#include <functional>
#include <memory>

namespace halobench {

class Memory;
class Meter;
class Space;

/// Makes the space of a kernel's arrays and of its forests' buffers.
using SpaceMaker = std::function<std::unique_ptr<Space>(Meter&, Memory&)>;

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// What a star forest's operation waits for in a device's memory.
#pragma once

#include <array>

namespace halobench {

/// What an operation waits for before MPI touches its data and when it ends: options A to D of
/// Zhang, Mills and Smith 2020, section 4.2 and figures 4 and 6.
///
/// general: values come from streams that nobody knows of, and go there; so all streams are waited
/// for before packing, the forest's before its messages if it worked, and when it has unpacked.
/// default_stream: values come from the forest's own stream and go there, which is waited for
/// before messages alone. stream_aware: as if MPI waited for the stream; as none does, values must
/// be there long before. typed: besides, nobody asks which memory an address is of.
enum class Ordering { general, default_stream, stream_aware, typed };

/// Their names, as parameters call them, in the same order: those that wait first.
inline constexpr std::array orderings{"general", "default_stream", "stream_aware", "typed"};

}  // namespace halobench

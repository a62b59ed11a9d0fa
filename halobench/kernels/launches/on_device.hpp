// SPDX-License-Identifier: BSD-3-Clause
// Device kernels that are launched one after the other on a stream, and what they make of an array.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.hpp"
#include "machine/memory.hpp"

namespace halobench {

/// Device kernels, each of which changes an array in place, so that both their order and their
/// number are in what it holds. The first changes all of it, the others its beginning.
class Chain {
 public:
  struct Setting {
    std::int64_t kernels;  ///< device kernels
    std::int64_t values;   ///< that each of them changes, of 8 bytes
    std::int64_t first;    ///< how many times as many the first one does
  };

  virtual ~Chain() = default;

  /// Other values for each `round`.
  virtual void set(std::int64_t round) = 0;

  /// Launches them all and waits for the last; `waits_first`: for the first one, too, before the
  /// second is launched.
  virtual void run(bool waits_first) = 0;

  /// Whether the array holds what run() has made of it so often; then, of a run more, whether what
  /// was waited for was there.
  virtual bool is_right(std::int64_t runs, bool waits_first) = 0;

  /// Bytes that a run reads and writes.
  virtual double bytes() const = 0;
};

/// `meter` traces each launch and wait; `memory` counts what is allocated. Only in programs that
/// have devices.
[[gnu::weak]] std::unique_ptr<Chain> make_chain(Device& device, Meter& meter, Memory& memory,
                                                const Chain::Setting& setting);

}  // namespace halobench

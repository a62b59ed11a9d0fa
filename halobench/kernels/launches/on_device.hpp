// SPDX-License-Identifier: BSD-3-Clause
// Device kernels that are launched one after the other on a stream, and what they make of an array.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

  /// `meter` traces each launch and wait; `memory` counts what is allocated.
  Chain(Device& device, Meter& meter, Memory& memory, const Setting& setting);

  /// Other values for each `round`.
  void set(std::int64_t round);

  /// What the host finds of the array's first value when each wait is over.
  struct Seen {
    std::uint64_t after_first = 0;
    std::uint64_t after_all = 0;
  };

  /// Launches them all and waits for the last; `waits_first`: for the first one, too, before the
  /// second is launched. `seen`, which costs copies, where it is asked for.
  void run(bool waits_first, Seen* seen = nullptr);

  /// Whether the array holds what run() has made of it so often; then, of a run more, whether what
  /// was waited for was there.
  bool is_right(std::int64_t runs, bool waits_first);

  /// Bytes that a run reads and writes.
  double bytes() const;

 private:
  void launch(std::int64_t number);
  void wait();
  void show(std::int64_t place, bool wanted);
  std::int64_t all_values() const { return setting_.first * setting_.values; }

  Device& device_;
  Meter& meter_;
  Setting setting_;
  std::vector<std::string> names_;  ///< of the device kernels
  Stream stream_;
  Buffer<std::uint64_t> host_;
  Buffer<std::byte> array_;
  Buffer<std::byte> shown_;  ///< the first value, after the first device kernel and after the last
  std::int64_t round_ = 0;
};

}  // namespace halobench

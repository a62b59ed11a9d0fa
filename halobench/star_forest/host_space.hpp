// SPDX-License-Identifier: BSD-3-Clause
// The host's memory, as a space of star forests.
#pragma once

#include <cstdint>
#include <memory>

#include "machine/cache.hpp"
#include "star_forest/space.hpp"

namespace halobench {

/// Ordinary memory. What is copied box by box and fits in no cache goes past them: its lines need
/// not be read before they are written, a third of what moves. Under simulation every move is
/// charged, by the bytes of its values and index lists; for real it is not timed, because two
/// readings of the clock take as long as a short move.
class HostSpace : public Space {
 public:
  /// `cached_bytes`: what a rank finds in its caches again; 0: everything.
  HostSpace(Meter& meter, Memory& memory, std::int64_t cached_bytes = last_cache_share_bytes());

  Buffer<std::byte> allocate_bytes(std::int64_t bytes, Pages pages) override;
  void move(const RouteSpan& routes, Direction direction, const void* from, void* to,
            const Unit& unit, Operation operation) override;
  void copy_in(const void* host, void* to, std::int64_t bytes) override;
  void copy_out(const void* from, void* host, std::int64_t bytes) override;

 private:
  Memory& memory_;
  std::int64_t cached_bytes_;
  bool simulated_;
};

std::unique_ptr<Space> make_host_space(Meter& meter, Memory& memory);

}  // namespace halobench

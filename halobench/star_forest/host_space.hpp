// The memory that a star forest's data live in: all that touches values, and nothing else does.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "machine/cache.hpp"
#include "machine/memory.hpp"
#include "machine/meter.hpp"
#include "star_forest/index_set.hpp"

namespace halobench {

/// What happens where a value arrives: it replaces the one that is there, or joins it.
enum class Operation { replace, sum, min, max };

/// The data of one root or leaf: `width` values of a type, next to each other.
class Unit {
 public:
  enum class Type { real64, real32, int32 };

  template <class Value>
  static Unit of(std::int64_t width = 1) {
    static_assert(std::is_same_v<Value, double> || std::is_same_v<Value, float> ||
                  std::is_same_v<Value, std::int32_t>);
    if (std::is_same_v<Value, double>) return {Type::real64, width};
    return {std::is_same_v<Value, float> ? Type::real32 : Type::int32, width};
  }

  Type type() const { return type_; }
  std::int64_t width() const { return width_; }
  std::int64_t bytes() const { return width_ * (type_ == Type::real64 ? 8 : 4); }
  MPI_Datatype mpi_type() const;
  bool operator==(const Unit&) const = default;

 private:
  Unit(Type type, std::int64_t width) : type_(type), width_(width) {}

  Type type_;
  std::int64_t width_;
};

/// Ordinary memory. What is copied box by box and fits in no cache goes past them: its lines need
/// not be read before they are written, a third of what moves. Under simulation every move is
/// charged, by the bytes of its values and index lists; for real it is not timed, because two
/// readings of the clock take as long as a short move.
class HostSpace {
 public:
  /// `cached_bytes`: what a rank finds in its caches again; 0: everything.
  HostSpace(Meter& meter, Memory& memory, std::int64_t cached_bytes = last_cache_share_bytes());

  Buffer<std::byte> allocate(std::int64_t bytes) { return memory_->allocate<std::byte>(bytes); }

  enum class Direction { forth, back };

  /// Packing, unpacking and local scattering in one: the unit at every index of route.from goes to
  /// that of route.to, or back, in order, so that sums are the same every time. `from` and `to` may
  /// be the same array where no unit is both read and written.
  void move(const Route& route, Direction direction, const void* from, void* to, const Unit& unit,
            Operation operation);

  /// Returns when what was moved may be sent or read. Here, all moves are done when they return.
  void synchronise() {}

  Meter& meter() const { return *meter_; }

 private:
  Meter* meter_;
  Memory* memory_;
  std::int64_t cached_bytes_;
  bool simulated_;
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// The memory that a star forest's data live in. All that touches values is a space's; nothing else
// does, so that another memory replaces this alone.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/as_size.hpp"
#include "machine/memory.hpp"
#include "machine/meter.hpp"
#include "star_forest/index_set.hpp"
#include "star_forest/space_maker.hpp"

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

/// An array in a space. Its address is for that space, for star forests and for MPI; on the host,
/// values are seen by fill() and visit() alone.
template <class Value>
class SpaceArray {
 public:
  SpaceArray() = default;
  explicit SpaceArray(Buffer<std::byte> memory) : memory_(std::move(memory)) {}

  Value* data() const { return reinterpret_cast<Value*>(memory_.data()); }

 private:
  Buffer<std::byte> memory_;
};

/// Routes between one array and another that are taken together: in the second, the values of each
/// have a place of their own.
struct Routes {
  struct One {
    const Route* route;
    std::int64_t place;  ///< in the second array, of what the route calls index 0
  };

  std::vector<One> all;
  std::shared_ptr<const void> copy;  ///< what a space keeps of them in its own memory
};

/// Some routes that lie side by side.
struct RouteSpan {
  const Routes& routes;
  std::size_t first;
  std::size_t count;
};

class DeviceSpace;

/// What a memory has to do for star forests and the kernels that test them.
class Space {
 public:
  explicit Space(Meter& meter) : meter_(meter) {}
  virtual ~Space() = default;
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  /// Uninitialised, aligned to 64 bytes. What is sent lies here: MPI must be able to read it.
  virtual Buffer<std::byte> allocate_bytes(std::int64_t bytes, Pages pages) = 0;
  template <class Value>
  SpaceArray<Value> allocate(std::int64_t count, Pages pages = Pages::huge) {
    return SpaceArray<Value>(allocate_bytes(count * std::int64_t{sizeof(Value)}, pages));
  }

  enum class Direction { forth, back };

  /// Called once for routes that move() is to take, and stay as they are.
  virtual void prepare(Routes& /*routes*/) {}

  /// Packing, unpacking and local scattering in one: the unit at every index of a route's `from`
  /// goes to that of its `to`, or back, in order, so that sums are the same every time. `from` and
  /// `to` may be the same array where no unit is both read and written.
  virtual void move(const RouteSpan& routes, Direction direction, const void* from, void* to,
                    const Unit& unit, Operation operation) = 0;

  /// Bytes of the host to an array of this space; and back, after star forests' operations that
  /// have ended. Never timed.
  virtual void copy_in(const void* host, void* to, std::int64_t bytes) = 0;
  virtual void copy_out(const void* from, void* host, std::int64_t bytes) = 0;

  /// Returns when all moves are done.
  virtual void synchronise() {}

  /// Itself where it is a device's memory, whose moves go on when move() has returned; else none.
  virtual DeviceSpace* on_device() { return nullptr; }
  /// As a record names that device; empty for the host's memory.
  virtual std::string device_name() const { return {}; }

  Meter& meter() const { return meter_; }

 private:
  Meter& meter_;
};

constexpr std::int64_t block_values = 4096;  ///< that pass through the host's memory together

/// array[i] = value(i) for the first `count`.
template <class Value, class Make>
void fill(Space& space, const SpaceArray<Value>& array, std::int64_t count, Make&& value) {
  std::array<Value, as_size(block_values)> block;
  for (std::int64_t begin = 0; begin < count; begin += block_values) {
    const auto here = std::min(block_values, count - begin);
    for (std::int64_t i = 0; i < here; ++i) block[as_size(i)] = value(begin + i);
    space.copy_in(block.data(), array.data() + begin, here * std::int64_t{sizeof(Value)});
  }
}

/// body(i, array[i]) for the first `count`, in order.
template <class Value, class Body>
void visit(Space& space, const SpaceArray<Value>& array, std::int64_t count, Body&& body) {
  std::array<Value, as_size(block_values)> block;
  for (std::int64_t begin = 0; begin < count; begin += block_values) {
    const auto here = std::min(block_values, count - begin);
    space.copy_out(array.data() + begin, block.data(), here * std::int64_t{sizeof(Value)});
    for (std::int64_t i = 0; i < here; ++i) body(begin + i, block[as_size(i)]);
  }
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "star_forest/host_space.hpp"

#include <algorithm>
#include <cstring>

#include "base/simulation.hpp"
#include "base/streaming.hpp"

namespace halobench {
namespace {

/// A route in the direction it is taken.
struct Ends {
  const IndexSet& from;
  const IndexSet& to;
  bool past_caches;  ///< where values are replaced, by streaming stores
};

/// Of a width that the compiler knows, so that a loop over units of one value is as short as it
/// looks, or of any.
template <std::int64_t known>
struct Width {
  explicit Width(std::int64_t /*width*/) {}
  static constexpr std::int64_t value = known;
};
template <>
struct Width<0> {
  explicit Width(std::int64_t width) : value(width) {}
  std::int64_t value;
};

template <Operation operation, class Value>
void join(Value& there, Value arrived) {
  if constexpr (operation == Operation::replace) there = arrived;
  if constexpr (operation == Operation::sum) there += arrived;
  if constexpr (operation == Operation::min) there = std::min(there, arrived);
  if constexpr (operation == Operation::max) there = std::max(there, arrived);
}

template <Operation operation, class Value>
void join_row(const Value* from, Value* to, std::int64_t count, bool past_caches) {
  if constexpr (operation == Operation::replace) {
    if (past_caches) return stream_row(to, from, count);
    std::copy_n(from, count, to);
  } else {
    for (std::int64_t i = 0; i < count; ++i) join<operation>(to[i], from[i]);
  }
}

template <Operation operation, class Value>
void move_box(const Box& source, const Box& target, const Value* from, Value* to,
              std::int64_t width, bool past_caches) {
  const auto [row, rows, planes] = source.extents;
  for (std::int64_t k = 0; k < planes; ++k) {
    const auto* in = from + width * (source.start + k * source.strides[1]);
    auto* out = to + width * (target.start + k * target.strides[1]);
    const auto in_step = width * source.strides[0];
    const auto out_step = width * target.strides[0];
    if (row * width == 1) {
      for (std::int64_t j = 0; j < rows; ++j) join<operation>(out[j * out_step], in[j * in_step]);
      continue;
    }
    for (std::int64_t j = 0; j < rows; ++j) {
      join_row<operation>(in + j * in_step, out + j * out_step, row * width, past_caches);
    }
  }
}

/// Indices of a list, or of a run.
struct Listed {
  const std::int64_t* indices;
  std::int64_t operator[](std::int64_t i) const { return indices[i]; }
};
struct Counted {
  std::int64_t start;
  std::int64_t operator[](std::int64_t i) const { return start + i; }
};

template <Operation operation, class Width, class Value, class Source, class Target>
void move_list(std::int64_t count, Source source, Target target, const Value* from, Value* to,
               Width width) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto* in = from + width.value * source[i];
    auto* out = to + width.value * target[i];
    for (std::int64_t k = 0; k < width.value; ++k) join<operation>(out[k], in[k]);
  }
}

template <Operation operation, class Width, class Value>
void move_lists(const Ends& ends, const Value* from, Value* to, Width width) {
  const auto count = ends.from.count;
  const Listed source{ends.from.list.data()};
  const Listed target{ends.to.list.data()};
  if (ends.from.list.empty()) {
    move_list<operation>(count, Counted{ends.from.first()}, target, from, to, width);
  } else if (ends.to.list.empty()) {
    move_list<operation>(count, source, Counted{ends.to.first()}, from, to, width);
  } else {
    move_list<operation>(count, source, target, from, to, width);
  }
}

template <Operation operation, class Value>
void move_values(const Ends& ends, const Value* from, Value* to, std::int64_t width) {
  if (ends.from.boxes.empty() || ends.to.boxes.empty()) {
    if (width == 1) {
      move_lists<operation>(ends, from, to, Width<1>(width));
    } else {
      move_lists<operation>(ends, from, to, Width<0>(width));
    }
    return;
  }
  for (std::size_t i = 0; i < ends.from.boxes.size(); ++i) {
    move_box<operation>(ends.from.boxes[i], ends.to.boxes[i], from, to, width, ends.past_caches);
  }
  if (ends.past_caches) end_streaming();
}

template <class Value>
void move_typed(const Ends& ends, const void* from, void* to, std::int64_t width,
                Operation operation) {
  const auto* in = static_cast<const Value*>(from);
  auto* out = static_cast<Value*>(to);
  switch (operation) {
    case Operation::replace:
      return move_values<Operation::replace>(ends, in, out, width);
    case Operation::sum:
      return move_values<Operation::sum>(ends, in, out, width);
    case Operation::min:
      return move_values<Operation::min>(ends, in, out, width);
    case Operation::max:
      return move_values<Operation::max>(ends, in, out, width);
  }
}

void move_any(const Ends& ends, const void* from, void* to, const Unit& unit, Operation operation) {
  switch (unit.type()) {
    case Unit::Type::real64:
      return move_typed<double>(ends, from, to, unit.width(), operation);
    case Unit::Type::real32:
      return move_typed<float>(ends, from, to, unit.width(), operation);
    case Unit::Type::int32:
      return move_typed<std::int32_t>(ends, from, to, unit.width(), operation);
  }
}

Traffic traffic(const Ends& ends, const Unit& unit, Operation operation) {
  const auto count = static_cast<double>(ends.from.count);
  const bool joins = operation != Operation::replace;
  const double indices =
      sizeof(std::int64_t) * static_cast<double>(ends.from.list.size() + ends.to.list.size());
  const double bytes = (joins ? 3.0 : 2.0) * count * static_cast<double>(unit.bytes()) + indices;
  return {bytes, joins ? count * static_cast<double>(unit.width()) : 0.0, bytes,
          count * static_cast<double>(unit.bytes()), 0};
}

}  // namespace

HostSpace::HostSpace(Meter& meter, Memory& memory, std::int64_t cached_bytes)
    : Space(meter), memory_(memory), cached_bytes_(cached_bytes), simulated_(simulated()) {}

Buffer<std::byte> HostSpace::allocate_bytes(std::int64_t bytes, Pages pages) {
  return memory_.allocate<std::byte>(bytes, pages);
}

void HostSpace::move(const RouteSpan& routes, Direction direction, const void* from, void* to,
                     const Unit& unit, Operation operation) {
  const bool forth = direction == Direction::forth;
  const auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  for (std::size_t i = routes.first; i < routes.first + routes.count; ++i) {
    const auto& [route, place] = routes.routes.all[i];
    if (route->from.count == 0) continue;
    const auto bytes = place * unit.bytes();
    const bool past_caches = operation == Operation::replace && cached_bytes_ > 0 &&
                             2 * route->from.count * unit.bytes() > cached_bytes_;
    const Ends ends{forth ? route->from : route->to, forth ? route->to : route->from, past_caches};
    const auto* source = forth ? in : in + bytes;
    auto* target = forth ? out + bytes : out;
    if (!simulated_) {
      move_any(ends, source, target, unit, operation);
    } else {
      meter().move(traffic(ends, unit, operation),
                   [&] { move_any(ends, source, target, unit, operation); });
    }
  }
}

void HostSpace::copy_in(const void* host, void* to, std::int64_t bytes) {
  std::memcpy(to, host, as_size(bytes));
}

void HostSpace::copy_out(const void* from, void* host, std::int64_t bytes) {
  std::memcpy(host, from, as_size(bytes));
}

std::unique_ptr<Space> make_host_space(Meter& meter, Memory& memory) {
  return std::make_unique<HostSpace>(meter, memory);
}

}  // namespace halobench

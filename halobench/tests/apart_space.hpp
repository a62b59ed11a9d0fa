// A memory apart from the host's, for tests: all values lie there encoded, so that whoever reads or
// writes one without the space finds or leaves another. Messages carry them as they lie.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "star_forest/space.hpp"

namespace halobench {

class ApartSpace : public Space {
 public:
  ApartSpace(Meter& meter, Memory& memory) : Space(meter), memory_(memory) {}

  Buffer<std::byte> allocate_bytes(std::int64_t bytes, Pages pages) override {
    return memory_.allocate<std::byte>(bytes, pages);
  }

  void copy_in(const void* host, void* to, std::int64_t bytes) override { recode(host, to, bytes); }
  void copy_out(const void* from, void* host, std::int64_t bytes) override {
    if (moving_) throw std::logic_error("copied out before the moves were waited for");
    recode(from, host, bytes);
  }
  void synchronise() override { moving_ = false; }

  /// Unit by unit, whatever the route is made of.
  void move(const Route& route, Direction direction, const void* from, void* to, const Unit& unit,
            Operation operation) override {
    moving_ = true;
    const bool forth = direction == Direction::forth;
    const auto sources = indices(forth ? route.from : route.to);
    const auto targets = indices(forth ? route.to : route.from);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto* in = static_cast<const std::byte*>(from) + sources[i] * unit.bytes();
      auto* out = static_cast<std::byte*>(to) + targets[i] * unit.bytes();
      switch (unit.type()) {
        case Unit::Type::real64:
          join<double>(in, out, unit.width(), operation);
          break;
        case Unit::Type::real32:
          join<float>(in, out, unit.width(), operation);
          break;
        case Unit::Type::int32:
          join<std::int32_t>(in, out, unit.width(), operation);
          break;
      }
    }
  }

 private:
  static constexpr std::byte code{0xa5};

  static std::vector<std::int64_t> indices(const IndexSet& set) {
    std::vector<std::int64_t> all;
    set.for_each([&](std::int64_t index) { all.push_back(index); });
    return all;
  }

  /// Encodes and decodes.
  static void recode(const void* from, void* to, std::int64_t bytes) {
    const auto* in = static_cast<const std::byte*>(from);
    std::transform(in, in + bytes, static_cast<std::byte*>(to),
                   [](std::byte one) { return one ^ code; });
  }

  template <class Value>
  static void join(const std::byte* from, std::byte* to, std::int64_t width, Operation operation) {
    const auto bytes = width * std::int64_t{sizeof(Value)};
    std::vector<Value> arrived(as_size(width));
    std::vector<Value> there(as_size(width));
    recode(from, arrived.data(), bytes);
    recode(to, there.data(), bytes);
    for (std::size_t i = 0; i < there.size(); ++i) {
      if (operation == Operation::replace) there[i] = arrived[i];
      if (operation == Operation::sum) there[i] += arrived[i];
      if (operation == Operation::min) there[i] = std::min(there[i], arrived[i]);
      if (operation == Operation::max) there[i] = std::max(there[i], arrived[i]);
    }
    recode(there.data(), to, bytes);
  }

  Memory& memory_;
  bool moving_ = false;
};

inline std::unique_ptr<Space> make_apart_space(Meter& meter, Memory& memory) {
  return std::make_unique<ApartSpace>(meter, memory);
}

}  // namespace halobench

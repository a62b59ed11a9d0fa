// SPDX-License-Identifier: BSD-3-Clause
#include "star_forest/device_space.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/as_size.hpp"
#include "star_forest/device_moves.hpp"

namespace halobench {
namespace {

/// No values are somewhere, too.
std::int64_t some(std::int64_t bytes) { return std::max<std::int64_t>(1, bytes); }

/// Before a route: the units and the indices in lists of those before it.
struct Before {
  std::int64_t units = 0;
  std::int64_t listed = 0;
};

/// Routes in a device's memory.
struct DeviceRoutes {
  Buffer<std::byte> lists;
  Buffer<std::byte> segments;
  std::int64_t segment_count = 0;
  std::vector<Before> before;  ///< each route, and then all of them
  std::int64_t largest = 0;    ///< index at either end, or number of a unit
  bool meeting_forth = false;  ///< some values may go to the same place ...
  bool meeting_back = false;   ///< ... or come back to it
};

/// Segments of routes, and the lists that they name, put together on the host.
class Assembly {
 public:
  explicit Assembly(const Routes& routes) {
    for (const auto& [route, place] : routes.all) {
      before_.push_back(total_);
      const auto& [near, far] = *route;
      if (near.count == 0) continue;
      largest_ = std::max({largest_, near.bounds().second, far.bounds().second + place});
      if (near.boxes.empty() || far.boxes.empty()) {
        add({near, 0, 0}, {far, 0, place}, near.count);
        continue;
      }
      for (std::size_t box = 0; box < near.boxes.size(); ++box) {
        add({near, box, 0}, {far, box, place}, near.boxes[box].count());
      }
    }
    before_.push_back(total_);
    largest_ = std::max(largest_, total_.units);
    std::vector<Placed> near, far;
    for (const auto& [route, place] : routes.all) {
      near.push_back({&route->from, 0});
      far.push_back({&route->to, place});
    }
    meeting_forth_ = some_index_twice(far);
    meeting_back_ = some_index_twice(near);
  }

  DeviceRoutes place(Device& device, Stream stream) {
    DeviceRoutes placed{device.allocate(some(bytes_of(numbers_))),
                        device.allocate(some(bytes_of(segments_))),
                        std::ssize(segments_),
                        before_,
                        largest_,
                        meeting_forth_,
                        meeting_back_};
    const void* lists = device.reach(placed.lists.data());
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      const auto address = [&](std::int64_t begin) {
        return begin == no_list ? nullptr : static_cast<const std::int64_t*>(lists) + begin;
      };
      segments_[i].near.list = address(list_begins_[i][0]);
      segments_[i].far.list = address(list_begins_[i][1]);
    }
    device.upload(stream, numbers_.data(), placed.lists.data(), bytes_of(numbers_));
    device.upload(stream, segments_.data(), placed.segments.data(), bytes_of(segments_));
    device.synchronise(stream);
    return placed;
  }

 private:
  static constexpr std::int64_t no_list = -1;

  /// A box of a set, or its list; its indices are counted from `place`.
  struct End {
    const IndexSet& set;
    std::size_t box;
    std::int64_t place;
  };

  template <class One>
  static std::int64_t bytes_of(const std::vector<One>& all) {
    return std::ssize(all) * std::int64_t{sizeof(One)};
  }

  void add(const End& near, const End& far, std::int64_t count) {
    list_begins_.push_back({begin_of_list(near), begin_of_list(far)});
    segments_.push_back({total_.units, DeviceIndices(box_of(near)), DeviceIndices(box_of(far))});
    total_.units += count;
    total_.listed = std::ssize(numbers_);
  }

  std::int64_t begin_of_list(const End& end) {
    if (!end.set.boxes.empty()) return no_list;
    const auto begin = std::ssize(numbers_);
    numbers_.insert(numbers_.end(), end.set.list.begin(), end.set.list.end());
    return begin;
  }

  static Box box_of(const End& end) {
    auto box = end.set.boxes.empty() ? Box{} : end.set.boxes[end.box];
    box.start += end.place;
    return box;
  }

  Before total_;
  std::vector<Before> before_;
  std::vector<DeviceSegment> segments_;
  std::vector<std::array<std::int64_t, 2>> list_begins_;  ///< of each segment, in `numbers_`
  std::vector<std::int64_t> numbers_;
  std::int64_t largest_ = 0;
  bool meeting_forth_ = false;
  bool meeting_back_ = false;
};

/// Do indices of values of so many numbers have 32 bits?
bool are_short(std::int64_t largest, std::int64_t width) {
  return largest < std::numeric_limits<std::int32_t>::max() / width - 1;
}

/// As the host's moves are charged.
Traffic traffic(double units, double listed, const Unit& unit, Operation operation) {
  const bool joins = operation != Operation::replace;
  const double moved = units * static_cast<double>(unit.bytes());
  const double bytes = (joins ? 3.0 : 2.0) * moved + sizeof(std::int64_t) * listed;
  return {bytes, joins ? units * static_cast<double>(unit.width()) : 0.0, bytes, moved, 0};
}

}  // namespace

DeviceSpace::DeviceSpace(Meter& meter, Memory& memory, std::unique_ptr<Device> device,
                         Setting setting, std::unique_ptr<StreamMessages> messages)
    : Space(meter),
      memory_(memory),
      device_(std::move(device)),
      messages_(std::move(messages)),
      setting_(setting),
      stream_(device_->new_stream()),
      users_stream_(setting.ordering == Ordering::general ? device_->new_stream() : stream_) {
  const bool waits =
      setting.ordering == Ordering::general || setting.ordering == Ordering::default_stream;
  if ((setting.staged || setting.late) && !waits) {
    throw std::logic_error(
        "messages would start before their data are complete, on a stream without a wait");
  }
  if (messages_ != nullptr && (setting.staged || setting.late)) {
    throw std::logic_error("stream messages cannot be staged or late");
  }
}

Buffer<std::byte> DeviceSpace::allocate_bytes(std::int64_t bytes, Pages /*pages*/) {
  memory_.count(bytes);
  return device_->allocate(some(bytes));
}

Buffer<std::byte> DeviceSpace::allocate_stage(std::int64_t bytes) {
  memory_.count(bytes);
  return device_->allocate_on_host(some(bytes));
}

void DeviceSpace::prepare(Routes& routes) {
  if (routes.all.empty()) return;
  routes.copy = std::make_shared<const DeviceRoutes>(Assembly(routes).place(*device_, stream_));
}

void DeviceSpace::move(const RouteSpan& routes, Direction direction, const void* from, void* to,
                       const Unit& unit, Operation operation) {
  switch (unit.type()) {
    case Unit::Type::real64:
      return launch_move<double>(routes, direction, from, to, unit, operation);
    case Unit::Type::real32:
      return launch_move<float>(routes, direction, from, to, unit, operation);
    case Unit::Type::int32:
      return launch_move<std::int32_t>(routes, direction, from, to, unit, operation);
  }
}

template <class Value>
void DeviceSpace::launch_move(const RouteSpan& routes, Direction direction, const void* from,
                              void* to, const Unit& unit, Operation operation) {
  if (routes.count == 0) return;
  const auto& placed = *static_cast<const DeviceRoutes*>(routes.routes.copy.get());
  const auto& first = placed.before[routes.first];
  const auto& last = placed.before[routes.first + routes.count];
  const auto units = last.units - first.units;
  if (units == 0) return;
  const bool forth = direction == Direction::forth;
  const auto launch = [&]<class Index>(Index /*type*/) {
    const DeviceMove<Value, Index> body{static_cast<const DeviceSegment*>(static_cast<const void*>(
                                            device_->reach(placed.segments.data()))),
                                        placed.segment_count,
                                        first.units,
                                        unit.width(),
                                        forth,
                                        forth ? placed.meeting_forth : placed.meeting_back,
                                        operation,
                                        static_cast<const Value*>(device_->reach(from)),
                                        static_cast<Value*>(device_->reach(to))};
    launch_over(*device_, stream_, units * unit.width(),
                traffic(static_cast<double>(units), static_cast<double>(last.listed - first.listed),
                        unit, operation),
                body);
  };
  working_ = true;
  if (are_short(placed.largest, unit.width())) return launch(std::int32_t{});
  launch(std::int64_t{});
}

void DeviceSpace::copy_in(const void* host, void* to, std::int64_t bytes) {
  device_->upload(users_stream_, host, to, bytes);
  after_copy_in();
}

void DeviceSpace::after_copy_in() {
  const auto given = setting_.ordering;
  if (given == Ordering::stream_aware || given == Ordering::typed) synchronise();
}

void DeviceSpace::copy_out(const void* from, void* host, std::int64_t bytes) {
  device_->download(users_stream_, from, host, bytes);
}

void DeviceSpace::synchronise() {
  device_->synchronise(stream_);
  working_ = false;
}

void DeviceSpace::before_pack(const void* from, const void* to) {
  device_->begin_operation();
  if (setting_.ordering != Ordering::typed) {
    require(from);
    require(to);
  }
  if (setting_.ordering != Ordering::general) return;
  device_->synchronise();
  working_ = false;
}

void DeviceSpace::require(const void* address) const {
  if (address == nullptr || device_->has(address)) return;
  throw std::logic_error("star forest: an array is not in device memory");
}

void DeviceSpace::before_messages(Event packed) {
  if (setting_.late) return device_->synchronise(packed);
  const bool worked = setting_.ordering == Ordering::general && working_;
  if (worked || setting_.ordering == Ordering::default_stream) synchronise();
}

std::int64_t DeviceSpace::waits(bool messages, bool before_messages, bool after_them) const {
  const bool general = setting_.ordering == Ordering::general;
  const bool always = setting_.late || setting_.ordering == Ordering::default_stream;
  const bool first = messages && !by_stream() && (always || (general && before_messages));
  return (first ? 1 : 0) + (general && after_them ? 1 : 0);
}

void DeviceSpace::exchange(std::span<const StreamMessages::Message> sent,
                           std::span<const StreamMessages::Message> received) {
  if (sent.empty() && received.empty()) return;
  working_ = true;
  messages_->exchange(*device_, stream_, sent, received);
}

void DeviceSpace::after_unpack() {
  if (setting_.ordering == Ordering::general && working_) synchronise();
}

Event DeviceSpace::take_event() {
  if (spare_events_.empty()) return device_->new_event();
  const auto event = spare_events_.back();
  spare_events_.pop_back();
  return event;
}

void DeviceSpace::stage_in(const void* stage, void* to, std::int64_t bytes) {
  working_ = true;
  device_->copy_in(stream_, stage, to, bytes);
}

void DeviceSpace::stage_out(const void* from, void* stage, std::int64_t bytes) {
  working_ = true;
  device_->copy_out(stream_, from, stage, bytes);
}

}  // namespace halobench

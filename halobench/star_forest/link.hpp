// SPDX-License-Identifier: BSD-3-Clause
// The messages of one operation of a star forest in flight: its buffers, its requests.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "star_forest/device_space.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench {

/// The buffers of the messages to one side's neighbours, or from them.
struct StarForest::Messages {
  /// `runs_whole`: those that are runs lie in the caller's own array.
  Messages(const Side& side, bool runs_whole, const Unit& unit, Space& space);

  bool staged() const { return stage.data() != nullptr; }

  Buffer<std::byte> memory;
  std::vector<std::byte*> places;  ///< for each neighbour; none: it is in the caller's array
  Routes routes;                   ///< from the caller's array to these places
  Buffer<std::byte> stage;         ///< the host's, where MPI has no other: as `memory`, then runs
  std::vector<std::byte*> stages;  ///< for each neighbour

 private:
  void lay_out_stage(const Side& side, const Unit& unit, DeviceSpace& device);
};

/// The event behind what an operation has packed, where its messages wait for that alone.
class StarForest::Packed {
 public:
  /// `device`: null where all is in the host's memory.
  explicit Packed(DeviceSpace* device)
      : device_(device != nullptr && device->late() ? device : nullptr),
        event_(device_ != nullptr ? device_->take_event() : Event{}) {}
  ~Packed() {
    if (device_ != nullptr) device_->give_back(event_);
  }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  Event event() const { return event_; }

 private:
  DeviceSpace* device_;
  Event event_;
};

/// The buffers and requests of one operation in flight, kept for the next one like it.
class StarForest::Link {
 public:
  /// `space` is there as long as the link is.
  Link(const StarForest& forest, Space& space, const Transfer& first);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  /// Whether requests and buffers serve this one too.
  bool serves(const Transfer& next) const;
  /// `agree`: all ranks compare what they begin.
  void begin(Space& space, const Transfer& next, bool agree);
  /// Messages are taken in the order of their ranks, so that sums are the same every time.
  void end(Space& space);
  /// Only that part, of an operation that has been run before.
  void run_part(Space& space, Part part, const Transfer& next);

  std::optional<Transfer> transfer;  ///< in flight

 private:
  static int tag_of(const Transfer& next);
  bool by_stream() const { return device_ != nullptr && device_->by_stream(); }
  void begin_on_device(Space& space, bool agree);
  /// What is unpacked and read on a device is waited for together with what was packed.
  void begin_messages(Meter& meter);
  /// All messages at once, as a device takes long to begin.
  void end_on_device(Space& space);
  void compare();
  void start_receives();
  void pack(Space& space, const Transfer& next);
  /// Messages to where MPI takes them from; those that were packed lie side by side.
  void copy_out(const Transfer& next);
  /// Messages from where MPI has put them.
  void copy_in(const Transfer& next);
  /// Where a message is that was packed, or needs no packing.
  const void* packed_at(std::size_t i, const Transfer& next) const;
  /// All messages, those that are received too, given to the device's stream behind what is packed.
  void exchange(const Transfer& next);
  void send(const Transfer& next);
  void receive(std::size_t i);
  /// Unpacks `many` of the messages that are not runs in place, in their order, from `first`.
  void unpack(Space& space, const Transfer& next, std::size_t first, std::size_t many);
  void complete_sends();
  void conclude();
  /// Nothing may arrive in memory that is gone: from receive `next` on, none is waited for, as
  /// their senders may never send. The agreement is, as all ranks begin it.
  void give_up(std::size_t next);
  [[noreturn]] void refuse(const std::string& why);
  int count(const IndexSet& set) const { return message_count(set.count * unit_.width()); }
  std::int64_t bytes(const IndexSet& set) const { return set.count * unit_.bytes(); }

  MPI_Comm comm_;
  const Side& out_;
  const Side& in_;
  DeviceSpace* device_;  ///< null where all is in the host's memory
  Packed packed_;        ///< where messages are late
  Way way_;
  Unit unit_;
  bool in_place_;         ///< runs are received where they belong
  void* into_ = nullptr;  ///< the caller's array that receives refer to
  Messages sent_;
  Messages received_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
  std::vector<const void*> targets_;              ///< of these
  std::vector<StreamMessages::Message> leaving_;  ///< of a device's stream, which has no requests
  std::vector<StreamMessages::Message> arriving_;
  int tag_ = 0;
  std::array<int, 2> agreed_{};  ///< the largest tag, and the smallest negated
  MPI_Request agreement_ = MPI_REQUEST_NULL;
  bool agree_ = false;  ///< when late messages begin
};

}  // namespace halobench

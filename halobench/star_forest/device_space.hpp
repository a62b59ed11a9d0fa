// SPDX-License-Identifier: BSD-3-Clause
// A device's memory, as a space of star forests: what their operations wait for, and what MPI is
// given.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "device/stream_messages.hpp"
#include "star_forest/ordering.hpp"
#include "star_forest/space.hpp"

namespace halobench {

/// Arrays and buffers of star forests in a device's memory. A move is given to the forest's stream
/// and goes on when move() has returned; copy_in() and copy_out() are what a user's own stream
/// does: the forest's, or for Ordering::general another one.
///
/// MPI touches no memory before all is done that was given to the stream earlier, so that a
/// message neither leaves too soon nor arrives where something is still read. One wait before
/// messages serves both: they are begun after packing, where the host's begins to receive before.
/// Messages of the stream's own are given to it between packing and unpacking, without a wait.
///
/// What star forests call is virtual: programs without devices have none of it.
class DeviceSpace : public Space {
 public:
  struct Setting {
    Ordering ordering = Ordering::default_stream;
    bool staged = false;  ///< MPI is given memory of the host, which is copied from and to
    /// Messages begin when an operation is to end, after an event behind what it has packed: what
    /// is launched in between does not wait for packing (figure 12 b). All ranks then end
    /// operations in the same order, too.
    bool late = false;
  };

  /// `messages`: of the forests' stream, between the ranks that all its forests have; null where
  /// MPI sends. Throws std::logic_error for what MPI would send before it is copied, and for
  /// messages of the stream that are staged or late.
  DeviceSpace(Meter& meter, Memory& memory, std::unique_ptr<Device> device, Setting setting,
              std::unique_ptr<StreamMessages> messages = nullptr);

  Buffer<std::byte> allocate_bytes(std::int64_t bytes, Pages pages) override;
  void prepare(Routes& routes) override;
  void move(const RouteSpan& routes, Direction direction, const void* from, void* to,
            const Unit& unit, Operation operation) override;
  void copy_in(const void* host, void* to, std::int64_t bytes) override;
  void copy_out(const void* from, void* host, std::int64_t bytes) override;
  void synchronise() override;
  DeviceSpace* on_device() override { return this; }
  std::string device_name() const override { return device_->name(); }

  /// What an operation that reads `from` and writes `to` waits for: before it packs ...
  virtual void before_pack(const void* from, const void* to);
  /// ... before it gives MPI its messages: where these are late, for `packed` alone ...
  virtual void before_messages(Event packed);
  /// ... and when it has unpacked.
  virtual void after_unpack();
  /// How often an operation waits for the stream after before_pack(), which was given work before
  /// its messages, if it has any, and after them.
  virtual std::int64_t waits(bool messages, bool before_messages, bool after_them) const;
  /// After copy_in(), where nothing is waited for later.
  virtual void after_copy_in();

  bool staged() const { return setting_.staged; }
  /// Does the forests' stream send and receive by itself? Then exchange() takes all messages.
  bool by_stream() const { return messages_ != nullptr; }
  virtual void exchange(std::span<const StreamMessages::Message> sent,
                        std::span<const StreamMessages::Message> received);
  bool late() const { return setting_.late; }
  /// An event that nobody else has until it is given back: runtimes keep each until a device ends.
  virtual Event take_event();
  void give_back(Event event) { spare_events_.push_back(event); }
  /// Sets the event behind what an operation has packed.
  void mark_packed(Event packed) { device_->record(packed, stream_); }
  /// The address of a device's memory that MPI is given where it is not staged.
  void* for_mpi(void* address) const { return device_->reach(address); }
  const void* for_mpi(const void* address) const { return for_mpi(const_cast<void*>(address)); }
  /// Memory for messages that are staged, and copies between it and the device's.
  virtual Buffer<std::byte> allocate_stage(std::int64_t bytes);
  virtual void stage_in(const void* stage, void* to, std::int64_t bytes);
  virtual void stage_out(const void* from, void* stage, std::int64_t bytes);

  Device& device() const { return *device_; }
  Stream stream() const { return stream_; }
  Stream users_stream() const { return users_stream_; }

 private:
  template <class Value>
  void launch_move(const RouteSpan& routes, Direction direction, const void* from, void* to,
                   const Unit& unit, Operation operation);
  void require(const void* address) const;

  Memory& memory_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<StreamMessages> messages_;
  Setting setting_;
  Stream stream_;        ///< of the forests
  Stream users_stream_;  ///< of those who fill and read arrays
  std::vector<Event> spare_events_;
  bool working_ = false;  ///< was the forests' stream given anything since it was waited for?
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "star_forest/link.hpp"

#include <algorithm>
#include <stdexcept>

#include "device/message_place.hpp"

namespace halobench {
namespace {

using Direction = Space::Direction;

const std::byte* at(const void* array, std::int64_t index, const Unit& unit) {
  return static_cast<const std::byte*>(array) + index * unit.bytes();
}

std::byte* at(void* array, std::int64_t index, const Unit& unit) {
  return static_cast<std::byte*>(array) + index * unit.bytes();
}

}  // namespace

StarForest::Messages::Messages(const Side& side, bool runs_whole, const Unit& unit, Space& space) {
  std::int64_t units = 0;
  std::vector<std::int64_t> begins;  // of each message, in the buffer
  for (const auto& neighbour : side) {
    const auto own = buffered(neighbour, runs_whole);
    begins.push_back(own == 0 ? -1 : units);
    if (own > 0) routes.all.push_back({&neighbour.packing, units});
    units += own;
  }
  if (units > 0) memory = space.allocate_bytes(units * unit.bytes(), Pages::huge);
  for (const auto begin : begins) {
    places.push_back(begin < 0 ? nullptr : memory.data() + begin * unit.bytes());
  }
  space.prepare(routes);
  auto* device = space.on_device();
  if (device != nullptr && device->staged()) lay_out_stage(side, unit, *device);
}

void StarForest::Messages::lay_out_stage(const Side& side, const Unit& unit, DeviceSpace& device) {
  std::int64_t units = 0;
  for (const auto& neighbour : side) units += neighbour.packing.from.count;
  stage = device.allocate_stage(units * unit.bytes());
  auto* next = stage.data() + memory.size();
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (places[i] != nullptr) {
      stages.push_back(stage.data() + (places[i] - memory.data()));
    } else {
      stages.push_back(next);
      next += side[i].packing.from.count * unit.bytes();
    }
  }
}

StarForest::Link::Link(const StarForest& forest, Space& space, const Transfer& first)
    : comm_(forest.comm_.handle()),
      out_(first.way == Way::to_leaves ? forest.root_side_ : forest.leaf_side_),
      in_(first.way == Way::to_leaves ? forest.leaf_side_ : forest.root_side_),
      device_(space.on_device()),
      packed_(device_),
      way_(first.way),
      unit_(first.unit),
      in_place_(first.operation == Operation::replace),
      sent_(out_, true, unit_, space),
      received_(in_, in_place_, unit_, space) {
  const auto& places = received_.places;
  into_ = std::ranges::find(places, nullptr) != places.end() ? first.to : nullptr;
  sends_.assign(out_.size(), MPI_REQUEST_NULL);
  receives_.assign(in_.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < in_.size(); ++i) {
    const auto& set = in_[i].packing.from;
    void* target = places[i] != nullptr ? places[i] : at(into_, set.first(), unit_);
    if (device_ != nullptr) {
      target = received_.staged() ? received_.stages[i] : device_->for_mpi(target);
    }
    targets_.push_back(target);
    if (by_stream()) {
      arriving_.push_back({target, bytes(set), in_[i].rank});
      continue;
    }
    check(MPI_Recv_init(target, count(set), unit_.mpi_type(), in_[i].rank, MPI_ANY_TAG, comm_,
                        &receives_[i]),
          "MPI_Recv_init");
  }
}

StarForest::Link::~Link() {
  if (transfer) {
    MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    MPI_Wait(&agreement_, MPI_STATUS_IGNORE);
  }
  for (auto& request : receives_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

bool StarForest::Link::serves(const Transfer& next) const {
  return !transfer && way_ == next.way && unit_ == next.unit &&
         in_place_ == (next.operation == Operation::replace) &&
         (into_ == nullptr || into_ == next.to);
}

void StarForest::Link::begin(Space& space, const Transfer& next, bool agree) {
  transfer = next;
  tag_ = tag_of(next);
  if (device_ != nullptr) return begin_on_device(space, agree);
  auto& meter = space.meter();
  meter.part("receive", [&] { start_receives(); });
  meter.part("pack", [&] { pack(space, next); });
  meter.part("send", [&] { send(next); });
  if (agree) compare();
}

void StarForest::Link::end(Space& space) {
  auto& meter = space.meter();
  if (device_ != nullptr) {
    end_on_device(space);
  } else {
    std::size_t unpacked = 0;
    for (std::size_t i = 0; i < in_.size(); ++i) {
      meter.part("wait", [&] { receive(i); });
      if (received_.places[i] == nullptr) continue;
      meter.part("unpack", [&] { unpack(space, *transfer, unpacked++, 1); });
    }
    meter.part("complete", [&] { complete_sends(); });
  }
  if (agreement_ != MPI_REQUEST_NULL) conclude();
  transfer.reset();
}

void StarForest::Link::run_part(Space& space, Part part, const Transfer& next) {
  tag_ = tag_of(next);
  switch (part) {
    case Part::begin:
      if (device_ != nullptr) device_->before_pack(next.from, next.to);
      return;
    case Part::pack:
      return pack(space, next);
    case Part::copy_out:
      if (sent_.staged()) copy_out(next);
      return;
    case Part::messages:
      if (by_stream()) return exchange(next);
      start_receives();
      send(next);
      for (std::size_t i = 0; i < in_.size(); ++i) receive(i);
      return complete_sends();
    case Part::scatter:
      return;  // the forest's, without messages
    case Part::copy_in:
      if (received_.staged()) copy_in(next);
      return;
    case Part::unpack:
      return unpack(space, next, 0, received_.routes.all.size());
  }
}

int StarForest::Link::tag_of(const Transfer& next) {
  return halobench::tag_of(next.way, next.unit, next.operation);
}

void StarForest::Link::begin_on_device(Space& space, bool agree) {
  auto& meter = space.meter();
  meter.part("synchronise", [&] { device_->before_pack(transfer->from, transfer->to); });
  meter.part("pack", [&] { pack(space, *transfer); });
  if (sent_.staged()) meter.part("copy out", [&] { copy_out(*transfer); });
  if (by_stream()) {
    if (agree) {  // before streams wait for what never comes, nor while others wait for this one
      space.synchronise();
      compare();
      conclude();
    }
    return meter.part("send", [&] { exchange(*transfer); });
  }
  agree_ = agree;
  if (!device_->late()) return begin_messages(meter);
  device_->mark_packed(packed_.event());
}

void StarForest::Link::begin_messages(Meter& meter) {
  if (!out_.empty() || !in_.empty()) {
    meter.part("synchronise", [&] { device_->before_messages(packed_.event()); });
  }
  meter.part("receive", [&] { start_receives(); });
  meter.part("send", [&] { send(*transfer); });
  if (agree_) compare();
}

void StarForest::Link::end_on_device(Space& space) {
  auto& meter = space.meter();
  if (device_->late()) begin_messages(meter);
  if (!by_stream()) {
    for (std::size_t i = 0; i < in_.size(); ++i) meter.part("wait", [&] { receive(i); });
  }
  if (received_.staged()) meter.part("copy in", [&] { copy_in(*transfer); });
  meter.part("unpack", [&] { unpack(space, *transfer, 0, received_.routes.all.size()); });
  if (!by_stream()) meter.part("complete", [&] { complete_sends(); });
  meter.part("synchronise", [&] { device_->after_unpack(); });
}

void StarForest::Link::compare() {
  agreed_ = {tag_, -tag_};
  check(MPI_Iallreduce(MPI_IN_PLACE, agreed_.data(), 2, MPI_INT, MPI_MAX, comm_, &agreement_),
        "MPI_Iallreduce");
}

void StarForest::Link::start_receives() {
  if (receives_.size() == 1) {
    check(MPI_Start(receives_.data()), "MPI_Start");
  } else if (!receives_.empty()) {  // none to start is an error
    check(MPI_Startall(static_cast<int>(receives_.size()), receives_.data()), "MPI_Startall");
  }
}

void StarForest::Link::pack(Space& space, const Transfer& next) {
  const auto& routes = sent_.routes;
  if (routes.all.empty()) return;
  space.move({routes, 0, routes.all.size()}, Direction::forth, next.from, sent_.memory.data(),
             unit_, Operation::replace);
}

void StarForest::Link::copy_out(const Transfer& next) {
  const auto packed = std::ssize(sent_.memory.span());
  if (packed > 0) device_->stage_out(sent_.memory.data(), sent_.stage.data(), packed);
  for (std::size_t i = 0; i < out_.size(); ++i) {
    if (sent_.places[i] != nullptr) continue;
    const auto& set = out_[i].packing.from;
    device_->stage_out(at(next.from, set.first(), unit_), sent_.stages[i], bytes(set));
  }
}

void StarForest::Link::copy_in(const Transfer& next) {
  const auto packed = std::ssize(received_.memory.span());
  if (packed > 0) device_->stage_in(received_.stage.data(), received_.memory.data(), packed);
  for (std::size_t i = 0; i < in_.size(); ++i) {
    if (received_.places[i] != nullptr) continue;
    const auto& set = in_[i].packing.from;
    device_->stage_in(received_.stages[i], at(next.to, set.first(), unit_), bytes(set));
  }
}

const void* StarForest::Link::packed_at(std::size_t i, const Transfer& next) const {
  if (sent_.places[i] != nullptr) return sent_.places[i];
  return at(next.from, out_[i].packing.from.first(), unit_);
}

void StarForest::Link::exchange(const Transfer& next) {
  leaving_.clear();
  for (std::size_t i = 0; i < out_.size(); ++i) {
    auto* source = const_cast<void*>(device_->for_mpi(packed_at(i, next)));  // is only read
    leaving_.push_back({source, bytes(out_[i].packing.from), out_[i].rank});
  }
  device_->exchange(leaving_, arriving_);
}

void StarForest::Link::send(const Transfer& next) {
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const auto& set = out_[i].packing.from;
    const void* source = packed_at(i, next);
    if (device_ != nullptr) {
      source = sent_.staged() ? sent_.stages[i] : device_->for_mpi(source);
    }
    const MessagePlace place(source);
    check(MPI_Isend(source, count(set), unit_.mpi_type(), out_[i].rank, tag_, comm_, &sends_[i]),
          "MPI_Isend");
  }
}

void StarForest::Link::receive(std::size_t i) {
  MPI_Status status;
  status.MPI_TAG = tag_;
  const MessagePlace place(targets_[i]);
  const int code = MPI_Wait(&receives_[i], &status);  // an error where the message is longer
  if (status.MPI_TAG != tag_) {
    give_up(i + 1);
    refuse("rank " + std::to_string(in_[i].rank) + " began " + said_by(status.MPI_TAG) +
           " where this rank began " + said_by(tag_));
  }
  check(code, "MPI_Wait");
}

void StarForest::Link::unpack(Space& space, const Transfer& next, std::size_t first,
                              std::size_t many) {
  if (many == 0) return;
  space.move({received_.routes, first, many}, Direction::back, received_.memory.data(), next.to,
             unit_, next.operation);
}

void StarForest::Link::complete_sends() {
  for (auto& request : sends_) check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

void StarForest::Link::conclude() {
  check(MPI_Wait(&agreement_, MPI_STATUS_IGNORE), "MPI_Wait");
  if (agreed_[0] == -agreed_[1]) return;
  refuse("some ranks began " + said_by(agreed_[0]) + ", others " + said_by(-agreed_[1]));
}

void StarForest::Link::give_up(std::size_t next) {
  for (; next < receives_.size(); ++next) {
    check(MPI_Cancel(&receives_[next]), "MPI_Cancel");
    check(MPI_Wait(&receives_[next], MPI_STATUS_IGNORE), "MPI_Wait");
  }
  check(MPI_Wait(&agreement_, MPI_STATUS_IGNORE), "MPI_Wait");
}

void StarForest::Link::refuse(const std::string& why) {
  transfer.reset();
  throw std::logic_error("star forest: " + why + "; all ranks begin the same operations");
}

}  // namespace halobench

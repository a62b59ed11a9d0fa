// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/halo_exchange.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace halobench {
namespace {

int count(const Payload& data) { return message_count(data.count); }

}  // namespace

std::vector<std::string> exchange_names() {
  return {"blocking", "even_odd", "sendrecv", "nonblocking", "persistent", "neighbor"};
}

ExchangeMode exchange_mode(const std::string& name) {
  const auto names = exchange_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw std::logic_error("no exchange mode " + name);
  return static_cast<ExchangeMode>(found - names.begin());
}

std::string exchange_missing(ExchangeMode mode) {
  return mode == ExchangeMode::neighbor ? neighbor_collective_missing() : "";
}

HaloExchange::HaloExchange(const Communicator& comm, ExchangeMode mode,
                           const std::vector<Axis>& axes)
    : comm_(comm), mode_(mode) {
  for (const auto& [position, low, high] : axes) {
    const int tag = 2 * static_cast<int>(lines_.size());
    lines_.push_back({position,
                      {{high.rank, tag, high.send}, {low.rank, tag, low.receive}},
                      {{low.rank, tag + 1, low.send}, {high.rank, tag + 1, high.receive}}});
    for (const auto& [out, in] : {lines_.back().up, lines_.back().down}) {
      if (out.rank != MPI_PROC_NULL) outgoing_.push_back(out);
      if (in.rank != MPI_PROC_NULL) incoming_.push_back(in);
    }
  }
  for (const auto& message : outgoing_) count(message.data);  // refused now, not in the middle
  requests_.assign(incoming_.size() + outgoing_.size(), MPI_REQUEST_NULL);
  if (mode_ == ExchangeMode::persistent) prepare();
  if (mode_ == ExchangeMode::neighbor) join();
}

HaloExchange::~HaloExchange() {
  for (auto& request : requests_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

bool overlaps(ExchangeMode mode) {
  return mode == ExchangeMode::nonblocking || mode == ExchangeMode::persistent;
}

bool HaloExchange::overlaps() const { return halobench::overlaps(mode_); }

void HaloExchange::start() {
  if (mode_ == ExchangeMode::nonblocking) post();
  if (mode_ == ExchangeMode::persistent && !requests_.empty()) {  // none to start is an error
    check(MPI_Startall(message_count(std::ssize(requests_)), requests_.data()), "MPI_Startall");
  }
}

void HaloExchange::finish() {
  if (overlaps()) {
    check(MPI_Waitall(message_count(std::ssize(requests_)), requests_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
    return;
  }
  if (collective_) return collective_->run();
  for (const auto& line : lines_) {
    if (mode_ == ExchangeMode::blocking) {
      shift(line.up, line.position == 0);
      shift(line.down, line.position == 0);
    } else if (mode_ == ExchangeMode::even_odd) {
      finish_even_odd(line);
    } else {
      send_and_receive(line.up);
      send_and_receive(line.down);
    }
  }
}

void HaloExchange::shift(const Way& way, bool receive_first) const {
  if (receive_first) receive(way.in);
  send(way.out);
  if (!receive_first) receive(way.in);
}

void HaloExchange::finish_even_odd(const Line& line) const {
  if (line.position % 2 == 0) {
    send(line.up.out);
    receive(line.down.in);
    send(line.down.out);
    receive(line.up.in);
  } else {
    receive(line.up.in);
    send(line.down.out);
    receive(line.down.in);
    send(line.up.out);
  }
}

void HaloExchange::send(const Message& to) const {
  check(MPI_Send(to.data.first, count(to.data), to.data.type, to.rank, to.tag, comm_.handle()),
        "MPI_Send");
}

void HaloExchange::receive(const Message& from) const {
  check(MPI_Recv(from.data.first, count(from.data), from.data.type, from.rank, from.tag,
                 comm_.handle(), MPI_STATUS_IGNORE),
        "MPI_Recv");
}

void HaloExchange::send_and_receive(const Way& way) const {
  const auto& [to, from] = way;
  check(MPI_Sendrecv(to.data.first, count(to.data), to.data.type, to.rank, to.tag, from.data.first,
                     count(from.data), from.data.type, from.rank, from.tag, comm_.handle(),
                     MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

void HaloExchange::post() {
  auto* request = requests_.data();
  for (const auto& from : incoming_) {
    check(MPI_Irecv(from.data.first, count(from.data), from.data.type, from.rank, from.tag,
                    comm_.handle(), request++),
          "MPI_Irecv");
  }
  for (const auto& to : outgoing_) {
    check(MPI_Isend(to.data.first, count(to.data), to.data.type, to.rank, to.tag, comm_.handle(),
                    request++),
          "MPI_Isend");
  }
}

void HaloExchange::prepare() {
  auto* request = requests_.data();
  for (const auto& from : incoming_) {
    check(MPI_Recv_init(from.data.first, count(from.data), from.data.type, from.rank, from.tag,
                        comm_.handle(), request++),
          "MPI_Recv_init");
  }
  for (const auto& to : outgoing_) {
    check(MPI_Send_init(to.data.first, count(to.data), to.data.type, to.rank, to.tag,
                        comm_.handle(), request++),
          "MPI_Send_init");
  }
}

/// On an axis of two ranks that is a ring both sides are one neighbour: up was sent first, and what
/// comes up is received first.
void HaloExchange::join() {
  NeighborCollective::Side out;
  NeighborCollective::Side in;
  for (const auto& to : outgoing_) out.add(to.rank, to.data);
  for (const auto& from : incoming_) in.add(from.rank, from.data);
  collective_ = std::make_unique<NeighborCollective>(comm_, std::move(out), std::move(in));
}

}  // namespace halobench

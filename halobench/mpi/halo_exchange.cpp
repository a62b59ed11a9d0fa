#include "mpi/halo_exchange.hpp"

#include <algorithm>
#include <stdexcept>

namespace halobench {
namespace {

int count(std::span<const double> buffer) { return message_count(std::ssize(buffer)); }

}  // namespace

std::vector<std::string> exchange_names() {
  return {"blocking", "even_odd", "sendrecv", "nonblocking", "persistent"};
}

ExchangeMode exchange_mode(const std::string& name) {
  const auto names = exchange_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw std::logic_error("no exchange mode " + name);
  return static_cast<ExchangeMode>(found - names.begin());
}

HaloExchange::HaloExchange(const Communicator& comm, ExchangeMode mode,
                           const std::vector<Axis>& axes)
    : comm_(comm), mode_(mode) {
  for (const auto& axis : axes) {
    const int tag = 2 * static_cast<int>(lines_.size());
    lines_.push_back({axis.position, {tag, axis.high, axis.low}, {tag + 1, axis.low, axis.high}});
    for (const auto& neighbour : {axis.low, axis.high}) {
      if (neighbour.rank == MPI_PROC_NULL) continue;
      messages_ += 1;
      message_count(std::max(std::ssize(neighbour.send), std::ssize(neighbour.receive)));
    }
  }
  if (mode_ != ExchangeMode::persistent) return;
  for (const auto& line : lines_) {
    prepare(line.up);
    prepare(line.down);
  }
}

HaloExchange::~HaloExchange() {
  for (auto& request : requests_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

bool HaloExchange::overlaps() const {
  return mode_ == ExchangeMode::nonblocking || mode_ == ExchangeMode::persistent;
}

void HaloExchange::start() {
  if (mode_ == ExchangeMode::nonblocking) {
    for (const auto& line : lines_) {
      post(line.up);
      post(line.down);
    }
  } else if (mode_ == ExchangeMode::persistent && !requests_.empty()) {
    check(MPI_Startall(message_count(std::ssize(requests_)), requests_.data()), "MPI_Startall");
  }
}

void HaloExchange::finish() {
  if (overlaps()) {
    check(MPI_Waitall(message_count(std::ssize(requests_)), requests_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
    if (mode_ == ExchangeMode::nonblocking) requests_.clear();
    return;
  }
  for (const auto& line : lines_) {
    if (mode_ == ExchangeMode::blocking) {
      finish_blocking(line);
    } else if (mode_ == ExchangeMode::even_odd) {
      finish_even_odd(line);
    } else {
      send_and_receive(line.up);
      send_and_receive(line.down);
    }
  }
}

void HaloExchange::finish_blocking(const Line& line) const {
  send(line.up);
  receive(line.up);
  send(line.down);
  receive(line.down);
}

void HaloExchange::finish_even_odd(const Line& line) const {
  if (line.position % 2 == 0) {
    send(line.up);
    receive(line.down);
    send(line.down);
    receive(line.up);
  } else {
    receive(line.up);
    send(line.down);
    receive(line.down);
    send(line.up);
  }
}

void HaloExchange::send(const Way& way) const {
  check(MPI_Send(way.to.send.data(), count(way.to.send), MPI_DOUBLE, way.to.rank, way.tag,
                 comm_.handle()),
        "MPI_Send");
}

void HaloExchange::receive(const Way& way) const {
  check(MPI_Recv(way.from.receive.data(), count(way.from.receive), MPI_DOUBLE, way.from.rank,
                 way.tag, comm_.handle(), MPI_STATUS_IGNORE),
        "MPI_Recv");
}

void HaloExchange::send_and_receive(const Way& way) const {
  check(MPI_Sendrecv(way.to.send.data(), count(way.to.send), MPI_DOUBLE, way.to.rank, way.tag,
                     way.from.receive.data(), count(way.from.receive), MPI_DOUBLE, way.from.rank,
                     way.tag, comm_.handle(), MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

void HaloExchange::post(const Way& way) {
  if (way.from.rank != MPI_PROC_NULL) {
    check(MPI_Irecv(way.from.receive.data(), count(way.from.receive), MPI_DOUBLE, way.from.rank,
                    way.tag, comm_.handle(), &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
  }
  if (way.to.rank != MPI_PROC_NULL) {
    check(MPI_Isend(way.to.send.data(), count(way.to.send), MPI_DOUBLE, way.to.rank, way.tag,
                    comm_.handle(), &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  }
}

void HaloExchange::prepare(const Way& way) {
  if (way.from.rank != MPI_PROC_NULL) {
    check(MPI_Recv_init(way.from.receive.data(), count(way.from.receive), MPI_DOUBLE, way.from.rank,
                        way.tag, comm_.handle(), &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Recv_init");
  }
  if (way.to.rank != MPI_PROC_NULL) {
    check(MPI_Send_init(way.to.send.data(), count(way.to.send), MPI_DOUBLE, way.to.rank, way.tag,
                        comm_.handle(), &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Send_init");
  }
}

}  // namespace halobench

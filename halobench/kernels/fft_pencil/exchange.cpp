// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fft_pencil/exchange.hpp"

#include <algorithm>

#include "base/as_size.hpp"

namespace halobench::fft {

Exchange::Exchange(const Communicator& comm, Transpose how, Side near, Side far)
    : comm_(comm),
      how_(how),
      near_(std::move(near)),
      far_(std::move(far)),
      receives_(near_.pieces.size()) {
  if (how_ != Transpose::alltoallv) return;
  near_lists_ = Lists(near_);
  far_lists_ = Lists(far_);
}

Exchange::Lists::Lists(const Side& side) {
  for (const auto& piece : side.pieces[0]) {
    counts.push_back(message_count(piece.count));
    firsts.push_back(message_count(piece.first));
  }
}

void Exchange::begin(bool forward) {
  forward_ = forward;
  if (how_ != Transpose::pipelined) return;
  for (std::size_t chunk = 0; chunk < receives_.size(); ++chunk) {
    receives_[chunk].clear();
    for (int step = 1; step < comm_.size(); ++step) {
      const int rank = (comm_.rank() - step + comm_.size()) % comm_.size();
      const auto& piece = to().pieces[chunk][as_size(rank)];
      if (piece.count == 0) continue;
      auto& request = receives_[chunk].emplace_back(MPI_REQUEST_NULL);
      check(MPI_Irecv(to().memory + piece.first, message_count(piece.count), MPI_C_DOUBLE_COMPLEX,
                      rank, static_cast<int>(chunk), comm_.handle(), &request),
            "MPI_Irecv");
    }
  }
}

void Exchange::start(std::int64_t chunk) {
  if (how_ == Transpose::alltoallv) return all_at_once();
  if (how_ == Transpose::pairwise) return one_after_the_other();
  for (int step = 1; step < comm_.size(); ++step) {
    const int rank = (comm_.rank() + step) % comm_.size();
    const auto& piece = from().pieces[as_size(chunk)][as_size(rank)];
    if (piece.count == 0) continue;
    auto& request = sends_.emplace_back(MPI_REQUEST_NULL);
    check(MPI_Isend(from().memory + piece.first, message_count(piece.count), MPI_C_DOUBLE_COMPLEX,
                    rank, static_cast<int>(chunk), comm_.handle(), &request),
          "MPI_Isend");
  }
}

void Exchange::finish(std::int64_t chunk) {
  auto& requests = receives_[as_size(chunk)];
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
}

void Exchange::end() {
  check(MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
  sends_.clear();
}

void Exchange::all_at_once() const {
  const auto& sent = forward_ ? near_lists_ : far_lists_;
  const auto& received = forward_ ? far_lists_ : near_lists_;
  check(MPI_Alltoallv(from().memory, sent.counts.data(), sent.firsts.data(), MPI_C_DOUBLE_COMPLEX,
                      to().memory, received.counts.data(), received.firsts.data(),
                      MPI_C_DOUBLE_COMPLEX, comm_.handle()),
        "MPI_Alltoallv");
}

void Exchange::one_after_the_other() const {
  for (int step = 1; step < comm_.size(); ++step) {
    const int target = (comm_.rank() + step) % comm_.size();
    const int source = (comm_.rank() - step + comm_.size()) % comm_.size();
    const auto& sent = from().pieces[0][as_size(target)];
    const auto& received = to().pieces[0][as_size(source)];
    check(MPI_Sendrecv(from().memory + sent.first, message_count(sent.count), MPI_C_DOUBLE_COMPLEX,
                       target, 0, to().memory + received.first, message_count(received.count),
                       MPI_C_DOUBLE_COMPLEX, source, 0, comm_.handle(), MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  }
}

double Exchange::bytes_sent() const {
  double bytes = 0;
  for (const auto* side : {&near_, &far_}) {
    for (const auto& chunk : side->pieces) {
      for (const auto& piece : chunk) bytes += sizeof(Complex) * static_cast<double>(piece.count);
    }
  }
  return bytes;
}

std::int64_t Exchange::messages_sent() const {
  std::int64_t messages = 0;
  for (const auto* side : {&near_, &far_}) {
    for (const auto& chunk : side->pieces) {
      messages += std::ranges::count_if(chunk, [](const Piece& piece) { return piece.count > 0; });
    }
  }
  return how_ == Transpose::alltoallv ? 0 : messages;
}

}  // namespace halobench::fft

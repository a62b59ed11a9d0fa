// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/poisson_cg/sstep/deep_halo.hpp"

#include <algorithm>
#include <span>

namespace halobench::cg {
namespace {

constexpr std::array vectors{&Strip::r, &Strip::p};

std::int64_t doubles_of(const Rectangle& part) { return std::ssize(vectors) * part.points(); }

/// Copies between `part` of both vectors and a buffer.
template <class Copy>
void each_row(const Strip& strip, const Rectangle& part, double* buffer, const Copy& copy) {
  for (const Vector vector : vectors) {
    for (std::int64_t i = part.rows.begin; i < part.rows.end; ++i) {
      copy((strip.*vector).row(i) + part.cols.begin, buffer, part.cols.size());
      buffer += part.cols.size();
    }
  }
}

}  // namespace

DeepHalo::DeepHalo(const Context& context, const Domain& domain, ExchangeMode mode)
    : domain_(domain) {
  const int rank = context.comm.rank();
  const auto& ranks = domain.cut().ranks;
  const std::int64_t depth = domain.cut().halo;
  const auto& top = domain.strips().front();
  const auto& bottom = domain.strips().back();
  const Range all{0, top.cols()};
  const std::int64_t end = bottom.rows();
  const Piece above{&top, {{0, depth}, all}, {{-depth, 0}, all}};
  const Piece below{&bottom, {{end - depth, end}, all}, {{end, end + depth}, all}};
  auto& rows = passes_[0];
  auto& cols = passes_[1];
  const auto [row, col, only] = ranks.coordinates(rank);
  const auto with = [&](std::size_t axis, int step, std::vector<Piece> side, Pass& pass) {
    return meet(context.memory, ranks.neighbour(rank, axis, step), std::move(side), pass);
  };
  const Axis down{static_cast<int>(row), with(vertical, -1, {above}, rows),
                  with(vertical, 1, {below}, rows)};
  const auto left = columns(rank, {0, depth}, {-depth, 0});
  const auto right = columns(rank, {all.end - depth, all.end}, {all.end, all.end + depth});
  const Axis across{static_cast<int>(col), with(horizontal, -1, left, cols),
                    with(horizontal, 1, right, cols)};
  rows.exchange = std::make_unique<HaloExchange>(context.comm, mode, std::vector{down});
  cols.exchange = std::make_unique<HaloExchange>(context.comm, mode, std::vector{across});
}

/// Columns of all strips; of the first and last one with the halo rows that came from other ranks.
std::vector<DeepHalo::Piece> DeepHalo::columns(int rank, Range out, Range in) const {
  const auto& cut = domain_.cut();
  std::vector<Piece> side;
  for (const auto& strip : domain_.strips()) {
    Range rows{0, strip.rows()};
    if (&strip == &domain_.strips().front()) rows.begin -= cut.halo * cut.open(rank, vertical, -1);
    if (&strip == &domain_.strips().back()) rows.end += cut.halo * cut.open(rank, vertical, 1);
    side.push_back({&strip, {rows, out}, {rows, in}});
  }
  return side;
}

Neighbour DeepHalo::meet(Memory& memory, int rank, std::vector<Piece> side, Pass& pass) {
  if (rank == MPI_PROC_NULL) return {};
  std::int64_t count = 0;
  for (const auto& piece : side) count += doubles_of(piece.out);
  const auto send = buffers_.emplace_back(memory.allocate<double>(count)).span();
  const auto receive = buffers_.emplace_back(memory.allocate<double>(count)).span();
  std::int64_t begin = 0;
  for (auto& piece : side) {
    piece.send = send.data() + begin;
    piece.receive = receive.data() + begin;
    begin += doubles_of(piece.out);
  }
  doubles_ += 2 * static_cast<double>(count);
  pass.pieces.insert(pass.pieces.end(), side.begin(), side.end());
  return {rank, send, receive};
}

void DeepHalo::pack(std::size_t pass) const {
  for (const auto& piece : passes_[pass].pieces) {
    each_row(
        *piece.strip, piece.out, piece.send,
        [](const double* row, double* to, std::int64_t count) { std::copy_n(row, count, to); });
  }
}

void DeepHalo::unpack(std::size_t pass) const {
  for (const auto& piece : passes_[pass].pieces) {
    each_row(
        *piece.strip, piece.in, piece.receive,
        [](double* row, const double* from, std::int64_t count) { std::copy_n(from, count, row); });
  }
}

void DeepHalo::join() const {
  const std::int64_t depth = domain_.cut().halo;
  const std::span strips = domain_.strips();
  domain_.each_strip([&](const Strip& strip) {
    const auto copy = [&](const Strip& from, std::int64_t row, std::int64_t to) {
      for (const Vector vector : vectors) {
        for (std::int64_t i = 0; i < depth; ++i) {
          std::copy_n((from.*vector).row(row + i) - depth, strip.cols() + 2 * depth,
                      (strip.*vector).row(to + i) - depth);
        }
      }
    };
    const Strip* here = &strip;
    if (here != &strips.front()) copy(here[-1], here[-1].rows() - depth, -depth);
    if (here != &strips.back()) copy(here[1], 0, strip.rows());
  });
}

std::int64_t DeepHalo::messages() const {
  return passes_[0].exchange->messages() + passes_[1].exchange->messages();
}

double DeepHalo::memory_bytes(const Cut& cut) {
  double points = 0;
  for (int rank = 0; rank < cut.ranks.ranks(); ++rank) {
    const auto here = cut.place(rank);
    const auto beyond_rows =
        cut.halo * (cut.open(rank, vertical, -1) + cut.open(rank, vertical, 1));
    const auto beyond_cols =
        cut.halo * (cut.open(rank, horizontal, -1) + cut.open(rank, horizontal, 1));
    points += static_cast<double>(beyond_rows * here.cols.size() +
                                  beyond_cols * (here.rows.size() + beyond_rows));
  }
  return 2 * sizeof(double) * std::ssize(vectors) * points;
}

}  // namespace halobench::cg

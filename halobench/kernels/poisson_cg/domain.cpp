// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/poisson_cg/domain.hpp"

#include <algorithm>
#include <array>

namespace halobench::cg {
namespace {

constexpr std::array all_vectors{&Strip::x, &Strip::r, &Strip::p, &Strip::q,
                                 &Strip::s, &Strip::z, &Strip::w};

/// What is left of a rank's strip without the points at the rank's edges that have a neighbour.
Rectangle inside(const Rectangle& strip, const Cut& cut, int rank) {
  const auto rows = cut.place(rank).rows;
  const bool top = strip.rows.begin == rows.begin;
  const bool bottom = strip.rows.end == rows.end;
  return {{top ? cut.open(rank, vertical, -1) : 0,
           strip.rows.size() - (bottom ? cut.open(rank, vertical, 1) : 0)},
          {cut.open(rank, horizontal, -1), strip.cols.size() - cut.open(rank, horizontal, 1)}};
}

}  // namespace

Rectangle Cut::place(int rank) const {
  const auto [row, col, only] = ranks.coordinates(rank);
  return {share({0, n}, ranks.extent(vertical), row), share({0, n}, ranks.extent(horizontal), col)};
}

std::vector<Rectangle> Cut::strips(int rank) const {
  const auto whole = place(rank);
  const auto count = std::clamp(whole.rows.size() / halo, std::int64_t{1}, threads);
  std::vector<Rectangle> strips;
  for (std::int64_t i = 0; i < count; ++i) {
    strips.push_back({share(whole.rows, count, i), whole.cols});
  }
  return strips;
}

double Cut::memory_bytes(int vectors) const {
  double doubles = 0;
  for (int rank = 0; rank < ranks.ranks(); ++rank) {
    for (const auto& strip : strips(rank)) {
      doubles += static_cast<double>(vectors * Layout(strip, halo).size());
    }
    const auto here = place(rank);
    doubles += static_cast<double>(
        2 * here.cols.size() * (open(rank, vertical, -1) + open(rank, vertical, 1)) +
        2 * here.rows.size() * (open(rank, horizontal, -1) + open(rank, horizontal, 1)));
  }
  return doubles * sizeof(double);
}

Domain::Domain(const Context& context, const Cut& cut, int vectors, ExchangeMode mode)
    : memory_(context.memory), cut_(cut), place_(cut.place(context.comm.rank())) {
  const int rank = context.comm.rank();
  for (const auto& place : cut.strips(rank)) {
    const Layout layout(place, cut.halo);
    double* memory =
        buffers_.emplace_back(memory_.allocate<double>(vectors * layout.size())).data();
    Strip strip{place, inside(place, cut, rank)};
    int used = 0;
    for (const Vector vector : all_vectors) {
      if (used < vectors) strip.*vector = layout.field(memory + used++ * layout.size());
    }
    strips_.push_back(strip);
  }
  const auto& top = strips_.front();
  const auto& bottom = strips_.back();
  const std::int64_t cols = place_.cols.size();
  const Segment above{&top, 0, 0, -top.x.stride, false, cols};
  const Segment below{&bottom, bottom.rows() - 1, 0, bottom.x.stride, false, cols};
  const auto [row, col, only] = cut.ranks.coordinates(rank);
  const auto neighbour = [&](std::size_t axis, int step) {
    return cut.ranks.neighbour(rank, axis, step);
  };
  const Axis down{static_cast<int>(row), meet(neighbour(vertical, -1), {above}, row_segments_),
                  meet(neighbour(vertical, 1), {below}, row_segments_)};
  const Axis across{static_cast<int>(col),
                    meet(neighbour(horizontal, -1), column(0, -1), column_segments_),
                    meet(neighbour(horizontal, 1), column(cols - 1, 1), column_segments_)};
  exchange_ = std::make_unique<HaloExchange>(context.comm, mode, std::vector{down, across});
}

std::vector<Segment> Domain::column(std::int64_t col, std::int64_t outwards) const {
  std::vector<Segment> side;
  for (const auto& strip : strips_) side.push_back({&strip, 0, col, outwards, true, strip.rows()});
  return side;
}

Neighbour Domain::meet(int rank, std::vector<Segment> side, std::vector<Segment>& edge) {
  if (rank == MPI_PROC_NULL) return {};
  std::int64_t points = 0;
  for (const auto& segment : side) points += segment.count;
  const auto send = buffers_.emplace_back(memory_.allocate<double>(points)).span();
  const auto receive = buffers_.emplace_back(memory_.allocate<double>(points)).span();
  std::int64_t begin = 0;
  for (auto& segment : side) {
    segment.send = send.data() + begin;
    segment.receive = receive.data() + begin;
    begin += segment.count;
  }
  edge.insert(edge.end(), side.begin(), side.end());
  return {rank, send, receive};
}

double Domain::edge_points() const {
  double points = 0;
  for (const auto* segments : {&row_segments_, &column_segments_}) {
    for (const auto& segment : *segments) points += static_cast<double>(segment.count);
  }
  return points;
}

void Domain::start_from_zero(const Poisson& problem) {
  each_strip([&](const Strip& strip) {
    for (const Vector vector : all_vectors) {
      const Field& field = strip.*vector;
      if (field.first != nullptr) Layout(strip.place, cut_.halo).clear(field);
    }
    for (std::int64_t i = 0; i < strip.rows(); ++i) {
      double* r = strip.r.row(i);
      for (std::int64_t j = 0; j < strip.cols(); ++j) {
        r[j] = problem.right_side(strip.place.rows.begin + i, strip.place.cols.begin + j);
      }
    }
  });
}

void Domain::pack(Vector vector) const {
  for (const auto* segments : {&row_segments_, &column_segments_}) {
    for (const auto& segment : *segments) {
      const Field& field = segment.strip->*vector;
      const double* edge = field.row(segment.row) + segment.col;
      const std::int64_t along = segment.downwards ? field.stride : 1;
      for (std::int64_t k = 0; k < segment.count; ++k) segment.send[k] = edge[k * along];
    }
  }
}

void Domain::unpack(const std::vector<Segment>& segments, Vector vector) const {
  for (const auto& segment : segments) {
    const Field& field = segment.strip->*vector;
    double* halo = field.row(segment.row) + segment.col + segment.outwards;
    const std::int64_t along = segment.downwards ? field.stride : 1;
    for (std::int64_t k = 0; k < segment.count; ++k) halo[k * along] = segment.receive[k];
  }
}

void Domain::join(Vector vector) const {
  if (strips_.size() == 1) return;
  each_strip([&](const Strip& strip) {
    const Field& field = strip.*vector;
    const auto* first = strips_.data();
    const auto* last = first + strips_.size() - 1;
    if (&strip != first) {
      const Strip& above = *(&strip - 1);
      std::copy_n((above.*vector).row(above.rows() - 1), strip.cols(), field.row(-1));
    }
    if (&strip != last) {
      std::copy_n(((*(&strip + 1)).*vector).row(0), strip.cols(), field.row(strip.rows()));
    }
  });
}

void Domain::refresh(Vector vector) {
  pack(vector);
  exchange_->start();
  exchange_->finish();
  unpack_rows(vector);
  unpack_columns(vector);
  join(vector);
}

}  // namespace halobench::cg

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fe_heat/solver.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/as_size.hpp"
#include "numerics/poisson/poisson_rows.hpp"

namespace halobench::heat {
namespace {

/// What nodes beside the face at x = 1 have on the right-hand side: all nodes of that face, its
/// edges included, have T = 1.
double heat_from_the_face(const NodeRow& row) {
  double sum = 0;
  for (std::int64_t z = -1; z <= 1; ++z) {
    for (std::int64_t y = -1; y <= 1; ++y) sum -= row[place_in_row(1, y, z)];
  }
  return sum;
}

}  // namespace

ElementMatrix element_matrix(const Extents& elements) {
  const auto [nx, ny, nz] = elements;
  return conduction_matrix(brick_corners(
      {1 / static_cast<double>(nx), 1 / static_cast<double>(ny), 1 / static_cast<double>(nz)}));
}

Solver::Solver(const Context& context, const Bisection& mesh, const std::string& operator_name)
    : context_(context),
      part_(mesh, context.comm.rank()),
      operator_(make_operator(operator_name, context, part_)),
      space_(context.meter, context.memory),
      x_(context.memory.allocate<double>(part_.places().count())),
      r_(context.memory.allocate<double>(part_.places().count())),
      p_(context.memory.allocate<double>(part_.places().count())),
      forest_(std::make_unique<StarForest>(context.comm, space_, part_.places().count(),
                                           part_.bonds())),
      sums_(as_size(context.meter.executes() ? part_.lines() : 0)),
      generate_(operator_->stores() ? &context.meter.phase("generate") : nullptr),
      assemble_(context.meter.phase("assemble")),
      halo_(context.meter.phase("halo")),
      matvec_(context.meter.phase("matvec")),
      dot_(context.meter.phase("dot")),
      update_(context.meter.phase("update")) {}

void Solver::forget() {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  operator_->forget();
  const auto& places = part_.places();
  part_.for_each_line(part_.whole(), [&](const Line& line) {
    const auto row = places.of(-1, line.y, line.z);
    std::fill_n(x_.data() + row, places.row(), nothing);
    std::fill_n(r_.data() + row, places.row(), nothing);
    std::fill_n(p_.data() + row, places.row(), 0.0);
  });
  for (const std::int64_t z : {std::int64_t{-1}, part_.size(2)}) {
    std::fill_n(p_.data() + places.of(-1, -1, z), places.plane(), 0.0);
  }
  for (std::int64_t z = 0; z < part_.size(2); ++z) {
    for (const std::int64_t y : {std::int64_t{-1}, part_.size(1)}) {
      std::fill_n(p_.data() + places.of(-1, y, z), places.row(), 0.0);
    }
  }
}

/// Elements are all alike, so that their matrix is integrated once.
void Solver::assemble() {
  auto& meter = context_.meter;
  if (generate_ != nullptr) {
    meter.compute(*generate_, operator_->generate_traffic(), [&] { operator_->generate(); });
  }
  auto traffic = operator_->assemble_traffic();
  const auto vectors = start_traffic();
  traffic.bytes += vectors.bytes;
  traffic.flops += vectors.flops;
  traffic.working_set_bytes += vectors.working_set_bytes;
  traffic.stored_bytes += vectors.stored_bytes;
  meter.compute(assemble_, traffic, [&] {
    const auto row = node_row(element_matrix(part_.elements()));
    operator_->assemble(row);
    const double heat = heat_from_the_face(row);
    const bool beside = part_.nodes()[0].end == part_.elements()[0];
    part_.for_each_line(part_.whole(), [&](const Line& line) {
      const auto first = part_.place_of(line);
      std::fill_n(x_.data() + first, line.size(), 0.0);
      std::fill_n(r_.data() + first, line.size(), 0.0);
      if (beside) r_[as_size(first + line.size() - 1)] = heat;
      sums_[as_size(line.number)] = beside ? heat * heat : 0;
    });
  });
}

void Solver::solve(cg::Progress& progress) {
  double squares = reduce(part_.size(1) * part_.size(2));  // of r = b, from assemble()
  double beta = 0;
  while (progress.wants_more(squares)) {
    turn_direction(beta);
    const double alpha = squares / multiply();
    const double next = advance(alpha, progress);
    beta = next / squares;
    squares = next;
  }
}

void Solver::turn_direction(double beta) {
  context_.meter.compute(update_, turn_traffic(), [&] {
    part_.for_each_line(part_.whole(), [&](const Line& line) {
      const auto first = part_.place_of(line);
      turn(p_.data() + first, r_.data() + first, beta, line.size());
    });
  });
}

void Solver::exchange() {
  const auto unit = Unit::of<double>();
  forest_->bcast_begin(unit, p_.data(), p_.data());
  forest_->bcast_end(unit, p_.data(), p_.data());
}

double Solver::multiply() {
  const auto unit = Unit::of<double>();
  auto& meter = context_.meter;
  meter.communicate(halo_, [&] { forest_->bcast_begin(unit, p_.data(), p_.data()); });
  multiply_pieces({&part_.inside(), 1});
  meter.communicate(halo_, [&] { forest_->bcast_end(unit, p_.data(), p_.data()); });
  multiply_pieces(part_.shell());
  return reduce(part_.lines());
}

const double* Solver::product() {
  multiply();
  part_.for_each_line(part_.whole(), [&](const Line& line) {
    for (auto* vector : {&x_, &r_})
      std::fill_n(vector->data() + part_.place_of(line), line.size(), 0.0);
  });
  operator_->advance(-1, p_.data(), x_.data(), r_.data(), sums_);
  return r_.data();
}

void Solver::multiply_pieces(std::span<const Piece> pieces) {
  std::int64_t rows = 0;
  for (const auto& piece : pieces) rows += volume(piece.nodes);
  if (rows == 0) return;
  auto traffic = operator_->multiply_traffic(rows);
  traffic.regions = static_cast<double>(pieces.size());
  context_.meter.compute(matvec_, traffic, [&] {
    for (const auto& piece : pieces) operator_->multiply(piece, p_.data(), sums_);
  });
}

double Solver::advance(double alpha, cg::Progress& progress) {
  context_.meter.compute(update_, advance_traffic(), [&] {
    operator_->advance(alpha, p_.data(), x_.data(), r_.data(), sums_);
  });
  return reduce(part_.size(1) * part_.size(2), progress.unlike());
}

/// The sum of all ranks' first `lines` sums; without the arithmetic, of `otherwise`.
double Solver::reduce(std::int64_t lines, double otherwise) {
  double sum = otherwise;
  if (context_.meter.executes() && part_.rows() > 0) {
    sum = std::accumulate(sums_.begin(), sums_.begin() + lines, 0.0);
  }
  context_.meter.communicate(dot_, [&] { sum = context_.comm.sum(sum); });
  return sum;
}

/// x, r and p are touched before a row's turn comes again.
Traffic Solver::sweep(double bytes, double stored, double flops) const {
  const auto rows = static_cast<double>(part_.rows());
  return {bytes * rows, flops * rows, 3 * sizeof(double) * rows, stored * rows};
}

/// x and r are read and written, p read.
Traffic Solver::advance_traffic() const {
  auto traffic = sweep(40, 16, 6);
  const auto product = operator_->product_traffic();
  traffic.bytes += product.bytes;
  traffic.flops += product.flops;
  traffic.working_set_bytes += product.working_set_bytes;
  return traffic;
}

double Solver::bytes_per_iteration() const {
  return operator_->multiply_traffic(part_.rows()).bytes + turn_traffic().bytes +
         advance_traffic().bytes;
}

Work Solver::work(std::int64_t iterations) const {
  const auto count = static_cast<double>(iterations);
  const double flops = operator_->multiply_traffic(part_.rows()).flops + turn_traffic().flops +
                       advance_traffic().flops;
  const double before = operator_->generate_traffic().bytes + operator_->assemble_traffic().bytes +
                        start_traffic().bytes;
  return {before + count * bytes_per_iteration(), start_traffic().flops + count * flops,
          count * static_cast<double>(forest_->bcast_sent().messages)};
}

}  // namespace halobench::heat

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/poisson_cg/product.hpp"

namespace halobench::cg {

Product::Product(const Context& context, Domain& domain)
    : context_(context),
      domain_(domain),
      matvec_(context.meter.phase("matvec")),
      edges_(context.meter.phase("edges")),
      halo_(context.meter.phase("halo")) {}

void Product::apply(Vector to, Vector from) {
  auto& exchange = domain_.exchange();
  const auto points = static_cast<double>(domain_.place().points());
  // Four vectors are touched before this one comes round again.
  const Traffic whole{bytes * points, flops * points, 4 * sizeof(double) * points, stored * points};
  const double edge_bytes = 2 * sizeof(double) * domain_.edge_points();
  const Traffic edge{edge_bytes, 0, edge_bytes, edge_bytes / 2};
  context_.meter.compute(edges_, edge, [&] {
    domain_.join(from);
    domain_.pack(from);
  });
  context_.meter.communicate(halo_, [&] { exchange.start(); });
  if (exchange.overlaps()) {
    context_.meter.compute(matvec_, whole, [&] { multiply_inside(to, from); });
  }
  context_.meter.communicate(halo_, [&] { exchange.finish(); });
  const Traffic by_one_thread{edge_bytes, 0, edge_bytes, edge_bytes / 2, 0};
  context_.meter.compute(edges_, by_one_thread, [&] {
    domain_.unpack_rows(from);
    domain_.unpack_columns(from);
    if (exchange.overlaps()) multiply_edges(to, from);
  });
  if (!exchange.overlaps()) {
    context_.meter.compute(matvec_, whole, [&] { multiply_all(to, from); });
  }
}

void Product::multiply_all(Vector to, Vector from) const {
  domain_.each_strip([&](const Strip& strip) {
    for (std::int64_t i = 0; i < strip.rows(); ++i) {
      multiply(strip.*to, strip.*from, i, {0, strip.cols()});
    }
  });
}

void Product::multiply_inside(Vector to, Vector from) const {
  domain_.each_strip([&](const Strip& strip) {
    for (std::int64_t i = strip.inside.rows.begin; i < strip.inside.rows.end; ++i) {
      multiply(strip.*to, strip.*from, i, strip.inside.cols);
    }
  });
}

void Product::multiply_edges(Vector to, Vector from) const {
  for (const auto& segment : domain_.row_segments()) {
    multiply(segment.strip->*to, segment.strip->*from, segment.row, {0, segment.count});
  }
  for (const auto& segment : domain_.column_segments()) {
    for (std::int64_t k = 0; k < segment.count; ++k) {
      multiply(segment.strip->*to, segment.strip->*from, segment.row + k,
               {segment.col, segment.col + 1});
    }
  }
}

}  // namespace halobench::cg

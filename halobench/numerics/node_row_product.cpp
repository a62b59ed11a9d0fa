// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/node_row_product.hpp"

#include <utility>

#include "base/prefetch.hpp"
#include "numerics/vectors.hpp"

namespace halobench {
namespace {

using Doubles = Values<double>;
using Places = Values<std::int64_t>;
using Whether = decltype(Doubles{} < Doubles{});
constexpr std::int64_t size = Vector<double>::size;
static_assert(node_row_unit % size == 0);

template <std::int64_t count>
using OfLines = std::array<Doubles, count>;

/// What nodes of one vector's places have and give.
template <std::int64_t count>
struct Weighed {
  OfLines<count> p;
  OfLines<count> own;    ///< to the row of the same x
  OfLines<count> given;  ///< to the rows one step away along x
};

/// Of the places from `place` on, those of nodes.
Whether are_nodes(std::int64_t place, Range nodes) {
  const auto places = [&]<int... i>(std::integer_sequence<int, i...>) {
    return Places{i...} + (place - 1);
  }(std::make_integer_sequence<int, size>{});
  return (places >= nodes.begin) & (places < nodes.end);
}

template <std::int64_t count>
void add_up(const OfLines<count>& vectors, double* sums) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] = sum_of<double>(vectors[i]);
}

}  // namespace

NodeRowProduct::NodeRowProduct(const NodeRow& row)
    : centre_{row[place_in_row(0, 0, 0)], row[place_in_row(0, 1, 0)], row[place_in_row(0, 0, 1)],
              row[place_in_row(0, 1, 1)]},
      neighbour_{row[place_in_row(1, 0, 0)], row[place_in_row(1, 1, 0)], row[place_in_row(1, 0, 1)],
                 row[place_in_row(1, 1, 1)]} {}

/// body(line, place, p, A p, those that are nodes), for each vector that has nodes; without the
/// last argument where all are. Each value of p is loaded once per plane; lines with the same
/// weight are added first; what a node gives to both neighbours along x is shuffled in registers.
/// Inlined, so that sums of the body stay in registers.
template <std::int64_t count, class Body>
[[gnu::always_inline]] inline void NodeRowProduct::for_each_vector(const NodeLines& lines,
                                                                   const double* p,
                                                                   const Body& body) const {
  std::array<Doubles, 4> a;
  std::array<Doubles, 4> b;
  for (std::size_t i = 0; i < 4; ++i) {
    a[i] = repeated(centre_[i]);
    b[i] = repeated(neighbour_[i]);
  }
  const auto [first, row, plane, nodes] = lines;
  const auto weigh = [&](std::int64_t place) {
    OfLines<count + 2> here;
    OfLines<count + 2> above;
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < count + 2; ++i) {
      const double* at = p + first + place + (i - 1) * row;
      here[i] = load(at);
      above[i] = load(at - plane) + load(at + plane);
      if (i >= 2) prefetch_line<Soon::read>(at + plane + values_ahead);  // others came before
    }
    Weighed<count> weighed;
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < count; ++i) {
      const Doubles beside = here[i] + here[i + 2];
      const Doubles diagonal = above[i] + above[i + 2];
      weighed.p[i] = here[i + 1];
      weighed.own[i] =
          (a[0] * here[i + 1] + a[1] * beside) + (a[2] * above[i + 1] + a[3] * diagonal);
      weighed.given[i] =
          (b[0] * here[i + 1] + b[1] * beside) + (b[2] * above[i + 1] + b[3] * diagonal);
    }
    return weighed;
  };
  OfLines<count> before{};
  const auto finish = [&](std::int64_t place, const Weighed<count>& here,
                          const OfLines<count>& after, const auto&... nodes_alone) {
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < count; ++i) {
      const Doubles product = here.own[i] + (left_neighbours<double>(before[i], here.given[i]) +
                                             right_neighbours<double>(here.given[i], after[i]));
      body(i, place, here.p[i], product, nodes_alone...);
      before[i] = here.given[i];
    }
  };
  // From the vector of the node before the first to that of the node after the last.
  const auto begin = nodes.begin / size * size;
  const auto end = (nodes.end + 1) / size * size;
  const auto first_nodes = are_nodes(begin, nodes);
  auto here = weigh(begin);
  for (auto place = begin; place < end; place += size) {
    const auto next = weigh(place + size);
    place == begin ? finish(place, here, next.given, first_nodes) : finish(place, here, next.given);
    here = next;
  }
  finish(end, here, {}, are_nodes(end, nodes));
}

void NodeRowProduct::dot(const NodeLines& lines, std::int64_t count, const double* p,
                         double* sums) const {
  const auto dot = [&]<std::int64_t lines_at_once>() {
    OfLines<lines_at_once> products{};
    for_each_vector<lines_at_once>(lines, p,
                                   [&](std::int64_t i, std::int64_t, const Doubles& own,
                                       const Doubles& product, const auto&... nodes) {
                                     Doubles term = own * product;
                                     if constexpr (sizeof...(nodes) > 0)
                                       term = (nodes, ...) ? term : Doubles{};
                                     products[i] += term;
                                   });
    add_up<lines_at_once>(products, sums);
  };
  count == 1 ? dot.template operator()<1>() : dot.template operator()<2>();
}

void NodeRowProduct::advance(const NodeLines& lines, std::int64_t count, double alpha,
                             const double* p, double* x, double* r, double* sums) const {
  const Doubles factor = repeated(alpha);
  const auto advance = [&]<std::int64_t lines_at_once>() {
    OfLines<lines_at_once> squares{};
    for_each_vector<lines_at_once>(lines, p,
                                   [&](std::int64_t i, std::int64_t place, const Doubles& own,
                                       const Doubles& product, const auto&... nodes) {
                                     const auto at = lines.place + i * lines.row + place;
                                     prefetch_line<Soon::write>(x + at + values_ahead);
                                     prefetch_line<Soon::write>(r + at + values_ahead);
                                     Doubles new_x = load(x + at) + factor * own;
                                     Doubles new_r = load(r + at) - factor * product;
                                     Doubles square = new_r * new_r;
                                     if constexpr (sizeof...(nodes) > 0) {
                                       new_x = (nodes, ...) ? new_x : load(x + at);
                                       new_r = (nodes, ...) ? new_r : load(r + at);
                                       square = (nodes, ...) ? square : Doubles{};
                                     }
                                     squares[i] += square;
                                     store(x + at, new_x);
                                     store(r + at, new_r);
                                   });
    add_up<lines_at_once>(squares, sums);
  };
  count == 1 ? advance.template operator()<1>() : advance.template operator()<2>();
}

}  // namespace halobench

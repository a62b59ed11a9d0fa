// SPDX-License-Identifier: BSD-3-Clause
// What finite elements are made of: their matrix, boxes of them over ranks, nodes and their
// neighbours, the series that answers are checked by, and what is refused.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "base/as_size.hpp"
#include "command.hpp"
#include "expect.hpp"
#include "kernels/fe_heat/answer.hpp"
#include "kernels/fe_heat/operator.hpp"
#include "kernels/fe_heat/part.hpp"
#include "numerics/cube_series.hpp"
#include "numerics/hash.hpp"
#include "numerics/hexahedron.hpp"
#include "numerics/node_row_product.hpp"

using namespace halobench;
using heat::Bisection;
using heat::Brick;
using heat::Part;
using heat::Piece;

namespace {

void is_close(double found, double expected, double allowed = 1e-14,
              std::source_location where = std::source_location::current()) {
  if (!(std::abs(found - expected) <= allowed)) expect::equal(found, expected, where);
}

double random(std::int64_t i) { return unit_interval(hash(i, 7)) - 0.5; }

/// Corners 0 to 7 differ along as many axes as their numbers' bits.
void a_cube_s_matrix_is_the_known_one() {
  const auto matrix = conduction_matrix(brick_corners({1, 1, 1}));
  const std::array<double, 4> by_axes{1.0 / 3, 0, -1.0 / 12, -1.0 / 12};
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < 8; ++b) {
      is_close(matrix[a][b], by_axes[as_size(__builtin_popcount(static_cast<unsigned>(a ^ b)))]);
      expect::equal(matrix[a][b], matrix[b][a]);
    }
  }
}

/// The product of one-dimensional matrices: stiffness along one axis, mass along the others.
void a_brick_s_matrix_is_a_product_of_three() {
  const std::array<double, 3> edges{0.5, 0.2, 0.125};
  const auto matrix = conduction_matrix(brick_corners(edges));
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < 8; ++b) {
      double expected = 0;
      for (std::size_t derived = 0; derived < 3; ++derived) {
        double product = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const bool same = (a >> axis & 1U) == (b >> axis & 1U);
          product *= axis == derived ? (same ? 1 : -1) / edges[axis] : edges[axis] / (same ? 3 : 6);
        }
        expected += product;
      }
      is_close(matrix[a][b], expected);
    }
  }
}

/// T = x + 2 y - 3 z has T K T = 14 times the volume in any hexahedron.
void linear_temperatures_are_exact_in_any_hexahedron() {
  auto corners = brick_corners({1, 2, 3});
  for (std::size_t c = 0; c < 8; ++c) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      corners[c][axis] += 0.2 * random(static_cast<std::int64_t>(3 * c + axis));
    }
  }
  const auto matrix = conduction_matrix(corners);
  const auto form = [&](const auto& left, const auto& right) {
    double sum = 0;
    for (std::size_t a = 0; a < 8; ++a) {
      for (std::size_t b = 0; b < 8; ++b)
        sum += left(corners[a]) * matrix[a][b] * right(corners[b]);
    }
    return sum;
  };
  const auto x = [](const auto& at) { return at[0]; };
  const auto linear = [](const auto& at) { return at[0] + 2 * at[1] - 3 * at[2]; };
  const auto constant = [](const auto&) { return 1.0; };
  const double volume = form(x, x);
  is_close(volume, 6, 1.5);
  is_close(form(linear, linear), 14 * volume, 1e-12);
  is_close(form(x, linear), volume, 1e-12);
  is_close(form(constant, linear), 0, 1e-12);
}

void a_row_is_that_of_eight_elements() {
  const auto row = node_row(conduction_matrix(brick_corners({1, 1, 1})));
  is_close(row[place_in_row(0, 0, 0)], 8.0 / 3);
  is_close(row[place_in_row(0, -1, 0)], 0);
  is_close(row[place_in_row(1, 0, -1)], -1.0 / 6);
  is_close(row[place_in_row(-1, 1, 1)], -1.0 / 12);
}

/// The row of weights times p around a place.
double applied(const NodeRow& row, const double* p, std::int64_t stride, std::int64_t plane) {
  double sum = 0;
  for (std::int64_t z = -1; z <= 1; ++z) {
    for (std::int64_t y = -1; y <= 1; ++y) {
      for (std::int64_t x = -1; x <= 1; ++x) {
        sum += row[place_in_row(x, y, z)] * p[x + stride * y + plane * z];
      }
    }
  }
  return sum;
}

void rows_are_applied_from_weights() {
  constexpr std::int64_t stride = 5 * node_row_unit;
  constexpr std::int64_t plane = 6 * stride;
  constexpr std::int64_t first = 2 * plane + 2 * stride;
  constexpr double alpha = 0.75;
  const auto row = node_row(conduction_matrix(brick_corners({0.5, 0.2, 0.125})));
  const NodeRowProduct product(row);
  std::vector<double> p(as_size(5 * plane));
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = random(static_cast<std::int64_t>(i));
  const auto applied_at = [&](std::int64_t place) {
    return applied(row, p.data() + place, stride, plane);
  };
  const auto check = [&](std::int64_t count, Range nodes) {
    const NodeLines lines{first, stride, plane, nodes};
    std::array<double, NodeRowProduct::most_lines> sums{};
    std::array<double, NodeRowProduct::most_lines> squares{};
    std::vector<double> x(p.size(), 2);
    std::vector<double> r(p.size(), 3);
    product.dot(lines, count, p.data(), sums.data());
    product.advance(lines, count, alpha, p.data(), x.data(), r.data(), squares.data());
    for (std::int64_t y = 0; y < 3; ++y) {
      double sum = 0;
      double square = 0;
      for (std::int64_t i = 0; i < stride; ++i) {
        const auto place = first + y * stride + i;
        const bool is_node = y < count && nodes.contains(i - 1);
        const double own = is_node ? applied_at(place) : 0;
        const double residual = 3 - alpha * own;
        is_close(x[as_size(place)], is_node ? 2 + alpha * p[as_size(place)] : 2);
        is_close(r[as_size(place)], residual);
        sum += is_node ? p[as_size(place)] * own : 0;
        square += is_node ? residual * residual : 0;
      }
      if (y >= count) continue;
      is_close(sums[as_size(y)], sum, 1e-12);
      is_close(squares[as_size(y)], square, 1e-12);
    }
  };
  for (std::int64_t end = 1; end <= stride - 2; ++end) {
    for (std::int64_t begin = std::max<std::int64_t>(0, end - 20); begin < end; ++begin) {
      for (std::int64_t count = 1; count <= NodeRowProduct::most_lines; ++count) {
        check(count, {begin, end});
      }
    }
  }
}

void every_element_has_one_rank_and_every_rank_elements() {
  for (const Extents elements : {Extents{4, 3, 2}, Extents{1, 1, 24}, Extents{2, 3, 2},
                                 Extents{5, 5, 5}, Extents{3, 2, 1}}) {
    const auto all = *volume(elements);
    for (std::int64_t ranks = 1; ranks <= all; ++ranks) {
      const Bisection mesh(elements, ranks);
      std::int64_t sum = 0;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const auto box = mesh.box(rank);
        const auto own = heat::volume(box);
        expect::is_true(own > 0, "a rank without an element");
        sum += own;
        const auto those = mesh.ranks_with(box);
        expect::is_true(those.size() == 1 && those[0] == rank, "a box of one rank");
      }
      expect::equal(sum, all);
    }
  }
}

void boxes_are_as_alike_as_layers_allow() {
  for (std::int64_t ranks = 1; ranks <= 64; ++ranks) {
    const Bisection mesh({100, 100, 100}, ranks);
    std::int64_t most = 0;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      most = std::max(most, heat::volume(mesh.box(rank)));
    }
    expect::is_true(static_cast<double>(most * ranks) < 1.1e6, std::to_string(ranks) + " ranks");
  }
  const auto third = Bisection({100, 100, 100}, 3).box(0);
  expect::equal(third[2].size(), 33);
  expect::equal(third[1].size(), 100);
}

std::int64_t number(const Extents& elements, std::int64_t x, std::int64_t y, std::int64_t z) {
  return x + (elements[0] + 1) * (y + (elements[1] + 1) * z);
}

/// Number of the node at each place of the mesh.
std::map<std::int64_t, std::int64_t> nodes_by_place(const Part& part) {
  std::map<std::int64_t, std::int64_t> found;
  const auto [xs, ys, zs] = heat::grown(part.nodes());
  for (auto z = zs.begin; z < zs.end; ++z) {
    for (auto y = ys.begin; y < ys.end; ++y) {
      for (auto x = xs.begin; x < xs.end; ++x) {
        found[part.places().of(x - xs.begin - 1, y - ys.begin - 1, z - zs.begin - 1)] =
            number(part.elements(), x, y, z);
      }
    }
  }
  return found;
}

/// Nodes that pieces have, and how often.
std::map<std::int64_t, int> covered(const Part& part) {
  std::map<std::int64_t, int> found;
  auto pieces = part.shell();
  pieces.push_back(part.inside());
  for (const auto& piece : pieces) {
    part.for_each_line(piece, [&](const heat::Line& line) {
      for (auto x = line.begin; x < line.end; ++x) ++found[part.row_of(x, line.y, line.z)];
    });
  }
  return found;
}

void parts_have_every_node_once_and_their_neighbours() {
  for (const Extents elements : {Extents{6, 5, 4}, Extents{2, 2, 9}, Extents{9, 2, 3}}) {
    const auto [nx, ny, nz] = elements;
    for (const std::int64_t ranks : {1, 2, 3, 4, 7, 12, 36}) {
      const Bisection mesh(elements, ranks);
      std::vector<Part> parts;
      for (std::int64_t rank = 0; rank < ranks; ++rank) parts.emplace_back(mesh, rank);
      std::int64_t rows = 0;
      std::int64_t nonzeros = 0;
      for (const auto& part : parts) {
        rows += part.rows();
        nonzeros += heat::count_nonzeros(part);
        const auto pieces = covered(part);
        expect::equal(std::ssize(pieces), part.rows());
        for (const auto& [row, times] : pieces) expect::equal(times, 1);
        const auto here = nodes_by_place(part);
        std::int64_t ghosts = 0;
        for (const auto& bond : part.bonds()) {
          const auto there = nodes_by_place(parts[as_size(bond.rank)]);
          std::vector<std::int64_t> leaves;
          bond.leaves.for_each([&](std::int64_t place) { leaves.push_back(here.at(place)); });
          std::size_t next = 0;
          bond.roots.for_each(
              [&](std::int64_t place) { expect::equal(there.at(place), leaves.at(next++)); });
          ghosts += std::ssize(leaves);
        }
        expect::equal(part.ghosts(), ghosts);
      }
      expect::equal(rows, (nx - 1) * (ny - 1) * (nz - 1));
      expect::equal(nonzeros, (3 * nx - 5) * (3 * ny - 5) * (3 * nz - 5));
    }
  }
}

void the_series_is_a_sixth_in_the_middle() {
  const CubeSeries series({8, 6, 4});
  std::array<double, 5> line{};
  series.line(0, 5, 3, 2, line.data());
  expect::equal(series.nodes_along_x(), 5);
  is_close(line[4], 1.0 / 6);
  is_close(line[0], 0);
  series.line(4, 1, 1, 3, line.data());  // at (1/2, 1/6, 3/4)
  double expected = 0;
  const double pi = std::acos(-1.0);
  for (int p = 1; p < 60; p += 2) {
    for (int q = 1; q < 60; q += 2) {
      const double l = pi * std::hypot(p, q);
      expected += 16 / (pi * pi * p * q) * std::sin(p * pi / 6) * std::sin(q * pi * 0.75) *
                  std::sinh(l / 2) / std::sinh(l);
    }
  }
  is_close(line[0], expected);
}

/// What is said of a converged answer on 10 x 10 x 20 elements, to 1e-8.
std::string fault_of(double error, double residual) {
  heat::Answer answer;
  answer.error_max = error;
  answer.residual_relative = residual;
  answer.mean = 0.2;
  cg::Limits limits;
  limits.tolerance = 1e-8;
  return heat::fault(answer, cg::Progress(limits), limits, {10, 10, 20});
}

void wrong_answers_are_told_from_good_ones() {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  expect::equal(fault_of(0.011, 1.9e-8), std::string());
  expect::contains(fault_of(0.0113, 1.9e-8), "is not of second order: above 0.01125");
  expect::contains(fault_of(0.01, 2.1e-8), "above the tolerance 1e-08");
  expect::contains(fault_of(0.01, nothing), "the recomputed residual is");
  expect::contains(fault_of(nothing, 1e-8), "is not of second order");
}

/// What the plan of these arguments says is wrong; empty if it says nothing.
std::string problem(const std::string& size, std::int64_t ranks) {
  const auto kernel = find_kernel("fe_heat");
  std::vector<Problem> problems;
  const Params params(kernel.parameters, std::vector{"size=" + size}, problems);
  const auto plan = kernel.plan_for(params, {ranks, 1});
  problems.insert(problems.end(), plan.problems.begin(), plan.problems.end());
  if (problems.empty()) return "";
  return problems[0].key + "=" + problems[0].value + ": " + problems[0].message;
}

void what_can_t_be_solved_is_refused() {
  expect::equal(problem("4x0x4", 1),
                std::string("size=4x0x4: give elements along x, y, and z, such as 100x100x100"));
  expect::equal(problem("9x9", 1),
                std::string("size=9x9: the cube has no interior nodes; give at least 2 elements "
                            "along each axis"));
  expect::equal(problem("2x2x2", 8), std::string());
  expect::equal(
      problem("2x2x2", 9),
      std::string(
          "size=2x2x2: fewer elements (8) than ranks (9); use fewer ranks or a larger size"));
  expect::equal(problem("9223372036854775807x2x2", 1),
                std::string("size=9223372036854775807x2x2: the mesh would have more than 2^63 - 1 "
                            "nodes"));
  expect::equal(problem("1300x1300x1300", 2), std::string());
  expect::equal(
      problem("1300x1300x1300", 1),
      std::string(
          "size=1300x1300x1300: 2207151704 values of a vector on a rank, with ghosts and padding: "
          "the limit of local indices is 2^31 - 1; use more ranks or a smaller size"));
}

}  // namespace

int main() {
  omp_set_num_threads(1);  // which count in one map
  a_cube_s_matrix_is_the_known_one();
  a_brick_s_matrix_is_a_product_of_three();
  linear_temperatures_are_exact_in_any_hexahedron();
  a_row_is_that_of_eight_elements();
  rows_are_applied_from_weights();
  every_element_has_one_rank_and_every_rank_elements();
  boxes_are_as_alike_as_layers_allow();
  parts_have_every_node_once_and_their_neighbours();
  the_series_is_a_sixth_in_the_middle();
  wrong_answers_are_told_from_good_ones();
  what_can_t_be_solved_is_refused();
  return expect::exit_code();
}

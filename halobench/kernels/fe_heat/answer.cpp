// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fe_heat/answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/as_size.hpp"
#include "numerics/cube_series.hpp"
#include "numerics/hash.hpp"
#include "numerics/largest.hpp"

namespace halobench::heat {
namespace {

// The error of the elements was seen to be 0.15 to 0.17 times the sum of the squares of their edges
// on fine meshes of cubes, and 0.04 to 0.38 times on coarse ones and on bricks of all proportions.
// What the tolerance adds grows with the root of the number of unknowns, which the residual is
// spread over: 0.004 to 0.025 times that and the tolerance.
constexpr double error_factor = 0.5;
constexpr double error_by_tolerance = 0.05;

constexpr double hottest = 1;  ///< temperature: no answer between 0 and this is further off
constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// What one line adds to an Answer.
struct LineAnswer {
  double error_max = 0;
  double sum = 0;
  double squares = 0;
  double residual_squares = 0;
  double right_side_squares = 0;
};

/// A node's row of K T, and the part of it that comes from the nodes at x = 1.
struct Heat {
  double all = 0;
  double from_the_face = 0;
};

/// Temperatures of all nodes in and around a rank's, in the solver's vector p.
class Temperatures {
 public:
  explicit Temperatures(Solver& solver)
      : part_(solver.part()),
        places_(part_.places()),
        values_(solver.p()),
        element_(element_matrix(part_.elements())) {
    part_.for_each_line(part_.whole(), [&](const Line& line) {
      const auto place = part_.place_of(line);
      std::copy_n(solver.x() + place, line.size(), values_ + place);
    });
    solver.exchange();
    set_face(1);
  }
  ~Temperatures() { set_face(0); }
  Temperatures(const Temperatures&) = delete;
  Temperatures& operator=(const Temperatures&) = delete;

  /// At a node of the rank: from each element around it, what its corners give.
  Heat heat(std::int64_t x, std::int64_t y, std::int64_t z) const {
    const auto centre = places_.of(x, y, z);
    const bool beside_face = part_.nodes()[0].begin + x == part_.elements()[0] - 1;
    Heat found;
    for (std::size_t own = 0; own < hexahedron_corners; ++own) {
      for (std::size_t other = 0; other < hexahedron_corners; ++other) {
        const auto step = step_to(other, 0) - step_to(own, 0);
        const auto place = centre + step + places_.row() * (step_to(other, 1) - step_to(own, 1)) +
                           places_.plane() * (step_to(other, 2) - step_to(own, 2));
        const double given = element_[own][other] * values_[place];
        found.all += given;
        if (beside_face && step == 1) found.from_the_face += given;
      }
    }
    return found;
  }

 private:
  static std::int64_t step_to(std::size_t corner, std::size_t axis) {
    return static_cast<std::int64_t>(corner >> axis & 1U);
  }

  /// Nodes at x = 1, where the rank has neighbours of them.
  void set_face(double value) {
    if (part_.rows() == 0 || part_.nodes()[0].end != part_.elements()[0]) return;
    for (std::int64_t z = -1; z <= part_.size(2); ++z) {
      for (std::int64_t y = -1; y <= part_.size(1); ++y) {
        values_[places_.of(part_.size(0), y, z)] = value;
      }
    }
  }

  const Part& part_;
  const Places& places_;
  double* values_;
  ElementMatrix element_;
};

LineAnswer examine_line(const Solver& solver, const Temperatures& temperatures,
                        const CubeSeries& series, const Line& line) {
  const auto& part = solver.part();
  const double* x = solver.x() + part.place_of(line);
  LineAnswer found;
  for (std::int64_t i = 0; i < line.size(); ++i) {
    const auto heat = temperatures.heat(i, line.y, line.z);
    found.sum += x[i];
    found.squares += x[i] * x[i];
    found.residual_squares += heat.all * heat.all;
    found.right_side_squares += heat.from_the_face * heat.from_the_face;
  }
  const auto [xs, ys, zs] = part.nodes();
  const auto known = std::clamp<std::int64_t>(series.nodes_along_x() - xs.begin, 0, line.size());
  std::vector<double> expected(as_size(known));
  series.line(xs.begin, known, ys.begin + line.y, zs.begin + line.z, expected.data());
  for (std::int64_t i = 0; i < known; ++i) {
    raise(found.error_max, std::abs(x[i] - expected[as_size(i)]));
  }
  return found;
}

double nodes_along(std::int64_t elements) { return static_cast<double>(elements) + 1; }

/// Of all ranks' lines, on this one in their order: the same for any number of threads.
Answer summed(const Communicator& comm, const std::vector<LineAnswer>& lines,
              const Extents& elements) {
  double error = 0;
  std::array<double, 4> sums{};
  for (const auto& line : lines) {
    raise(error, line.error_max);
    sums[0] += line.sum;
    sums[1] += line.squares;
    sums[2] += line.residual_squares;
    sums[3] += line.right_side_squares;
  }
  comm.sum(sums);
  const auto [nx, ny, nz] = elements;
  const double face = nodes_along(ny) * nodes_along(nz);
  double row_moduli = 0;
  for (const double weight : node_row(element_matrix(elements))) row_moduli += std::abs(weight);
  return {comm.max(error), (face + sums[0]) / (face * nodes_along(nx)),
          std::sqrt(sums[2] / sums[3]), epsilon * row_moduli * std::sqrt(sums[1] / sums[3])};
}

std::string text(double value) { return Json(value).dump(); }

/// The same at a node for any number of ranks.
double mixed(const Part& part, const Line& line, std::int64_t x, std::int64_t sequence) {
  const auto& nodes = part.nodes();
  const auto [nx, ny, nz] = part.elements();
  const auto number = (nodes[0].begin + x) +
                      (nx + 1) * ((nodes[1].begin + line.y) + (ny + 1) * (nodes[2].begin + line.z));
  return unit_interval(hash(number, sequence)) - 0.5;
}

/// left . A right, and the sum of the moduli that it is the sum of.
struct Form {
  double value = 0;
  double moduli = 0;
};

Form form(const Communicator& comm, Solver& solver, std::int64_t left, std::int64_t right) {
  const auto& part = solver.part();
  part.for_each_line(part.whole(), [&](const Line& line) {
    double* p = solver.p() + part.place_of(line);
    for (std::int64_t x = 0; x < line.size(); ++x) p[x] = mixed(part, line, x, right);
  });
  const double* product = solver.product();
  std::vector<Form> lines(as_size(part.size(1) * part.size(2)));
  part.for_each_line(part.whole(), [&](const Line& line) {
    const double* own = product + part.place_of(line);
    auto& found = lines[as_size(line.number)];
    for (std::int64_t x = 0; x < line.size(); ++x) {
      const double term = mixed(part, line, x, left) * own[x];
      found.value += term;
      found.moduli += std::abs(term);
    }
  });
  std::array<double, 2> sums{};
  for (const auto& line : lines) {
    sums[0] += line.value;
    sums[1] += line.moduli;
  }
  comm.sum(sums);
  return {sums[0], sums[1]};
}

std::string fault_of_fixed_count(const Answer& answer, double updated) {
  const double apart = std::abs(answer.residual_relative - updated);
  if (apart <= 1e-6 * updated + 16 * answer.attainable) return "";
  return "the recomputed residual is " + text(answer.residual_relative) +
         " of the initial one, but the solver's own is " + text(updated);
}

std::string fault_of_converged(const Answer& answer, const cg::Limits& limits,
                               const Extents& elements) {
  const Bounds most = bounds_of_converged(elements, limits.tolerance);
  if (!(answer.residual_relative <= most.residual_relative)) {
    return "the recomputed residual is " + text(answer.residual_relative) +
           " of the initial one, above the tolerance " + text(limits.tolerance) +
           "; rounding allows about " + text(answer.attainable);
  }
  if (answer.error_max <= most.error_max) return "";
  return "the error " + text(answer.error_max) + " is not of second order: above " +
         text(most.error_max);
}

}  // namespace

Bounds bounds_of_converged(const Extents& elements, double tolerance) {
  double squares = 0;
  double volume = 1;
  for (const auto number : elements) {
    squares += 1 / (static_cast<double>(number) * static_cast<double>(number));
    volume *= static_cast<double>(number);
  }
  const double error = error_factor * squares + error_by_tolerance * tolerance * std::sqrt(volume);
  return {std::min(error, hottest), 2 * tolerance};
}

Answer examine(const Communicator& comm, Solver& solver) {
  const auto& part = solver.part();
  const Temperatures temperatures(solver);
  const CubeSeries series(part.elements());
  std::vector<LineAnswer> lines(as_size(part.size(1) * part.size(2)));
  part.for_each_line(part.whole(), [&](const Line& line) {
    lines[as_size(line.number)] = examine_line(solver, temperatures, series, line);
  });
  return summed(comm, lines, part.elements());
}

std::string fault(const Answer& answer, const cg::Progress& progress, const cg::Limits& limits,
                  const Extents& elements) {
  if (!progress.failure().empty()) return progress.failure();
  if (!(answer.mean >= 0 && answer.mean <= 1)) {
    return "the mean temperature is " + text(answer.mean) + ", not between 0 and 1";
  }
  if (limits.iterations > 0) return fault_of_fixed_count(answer, progress.residual_relative());
  return fault_of_converged(answer, limits, elements);
}

std::string asymmetry(const Communicator& comm, Solver& solver) {
  const auto one_way = form(comm, solver, 0, 1);
  const auto other_way = form(comm, solver, 1, 0);
  const double allowed = 64 * epsilon * (one_way.moduli + other_way.moduli);
  if (std::abs(one_way.value - other_way.value) <= allowed) return {};
  return "u.Av = " + text(one_way.value) + " and v.Au = " + text(other_way.value) +
         " of a symmetric matrix";
}

}  // namespace halobench::heat

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/md_pppm/mesh.hpp"

#include <algorithm>

#include "base/as_size.hpp"
#include "kernels/md_pppm/boxes.hpp"

namespace halobench::md {
namespace {

constexpr std::int64_t complex = 2;  ///< doubles

/// body(x, y, z, place) for each point of a box, in the order of an array that holds it.
template <class Body>
void for_points(const Box& box, Body&& body) {
  std::int64_t place = 0;
  for (auto z = box[2].begin; z < box[2].end; ++z) {
    for (auto y = box[1].begin; y < box[1].end; ++y) {
      for (auto x = box[0].begin; x < box[0].end; ++x) body(x, y, z, place++);
    }
  }
}

std::int64_t wrapped(std::int64_t place, std::int64_t points) {
  return ((place % points) + points) % points;
}

/// Doubles that the arrays of a rank have.
struct Sizes {
  Sizes(const System& system, std::int64_t rank)
      : whole(points(system.with_ghosts(rank))), brick(points(system.part(Layout::bricks, rank))) {
    using enum Layout;
    for (const auto layout : {along_x, along_y, along_z}) {
      lines = std::max(lines, points(system.part(layout, rank)));
    }
    const auto buffer = [&](Layout from, Layout to, std::int64_t values) {
      sent = std::max(sent, Remap::buffer_values(system, rank, from, to, values));
    };
    buffer(bricks, along_x, 1);
    buffer(along_x, along_y, complex);
    buffer(along_y, along_z, complex);
    buffer(along_z, along_x, complex);
    buffer(along_z, bricks, complex);
  }

  std::int64_t whole;
  std::int64_t brick;
  std::int64_t lines = 0;
  std::int64_t sent = 0;
};

std::string place_of(std::int64_t x, std::int64_t y, std::int64_t z) {
  return std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z);
}

}  // namespace

Mesh::Mesh(const Context& context, const System& system, Phases& phases, Costs& costs, bool once)
    : context_(context),
      system_(system),
      phases_(phases),
      costs_(costs),
      once_(once),
      ghosts_(context, system),
      brick_(system.part(Layout::bricks, context.comm.rank())),
      lines_(system.part(Layout::along_x, context.comm.rank())),
      to_lines_(context, system, Layout::bricks, Layout::along_x, 1, once),
      x_to_y_(context, system, Layout::along_x, Layout::along_y, complex, once),
      y_to_z_(context, system, Layout::along_y, Layout::along_z, complex, once),
      z_to_x_(context, system, Layout::along_z, Layout::along_x, complex, once),
      z_to_bricks_(context, system, Layout::along_z, Layout::bricks, complex, once) {
  auto& memory = context.memory;
  const Sizes sizes(system, context.comm.rank());
  charges_ = memory.allocate<double>(sizes.whole);
  field_ = memory.allocate<double>(components * sizes.whole);
  owned_ = memory.allocate<double>(complex * sizes.brick);
  real_ = memory.allocate<double>(sizes.lines);
  spectrum_ = memory.allocate<double>(complex * sizes.lines);
  one_ = memory.allocate<double>(complex * sizes.lines);
  other_ = memory.allocate<double>(complex * sizes.lines);
  sent_ = memory.allocate<double>(sizes.sent);
  if (!context.meter.executes()) return;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    copies_[axis].assign(as_size(system.grid()[axis]), 0);
    const auto& bricks = system.bricks();
    for (std::int64_t part = 0; part < bricks.extent(axis); ++part) {
      Extents at{0, 0, 0};
      at[axis] = part;
      const auto of = (at[0] * bricks.extent(1) + at[1]) * bricks.extent(2) + at[2];
      const auto range = system.with_ghosts(of)[axis];
      for (auto place = range.begin; place < range.end; ++place) {
        ++copies_[axis][as_size(wrapped(place, system.grid()[axis]))];
      }
    }
  }
}

double Mesh::memory(const System& system, std::int64_t rank) {
  const Sizes sizes(system, rank);
  const auto values = (1 + components) * sizes.whole + complex * sizes.brick +
                      (1 + 3 * complex) * sizes.lines + sizes.sent;
  return 8 * static_cast<double>(values) + GridGhosts::memory(system, rank);
}

/// What a point is known by: its number, from 1.
double Mesh::charge(std::int64_t x, std::int64_t y, std::int64_t z) const {
  const auto& [nx, ny, nz] = system_.grid();
  return static_cast<double>((wrapped(z, nz) * ny + wrapped(y, ny)) * nx + wrapped(x, nx) + 1);
}

/// Bricks that reach a point, each as often as it has an image of it.
std::int64_t Mesh::copies(std::size_t axis, std::int64_t place) const {
  return copies_[axis][as_size(wrapped(place, system_.grid()[axis]))];
}

void Mesh::solve() {
  costs_.half_of_kspace();
  spread_charges();
  ghosts_.reverse(phases_, charges_.data());
  to_lines();
  once_ ? transform_once() : transform_each();
  ghosts_.forward(phases_, field_.data(), components);
  costs_.half_of_kspace();
}

void Mesh::spread_charges() {
  if (!context_.meter.executes()) return;
  for_points(ghosts_.whole(),
             [&](std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t place) {
               charges_[as_size(place)] = charge(x, y, z);
             });
}

void Mesh::to_lines() {
  const bool real = context_.meter.executes();
  if (real) copy(charges_.data(), ghosts_.whole(), owned_.data(), brick_, brick_, 1);
  to_lines_.run(phases_, owned_.data(), real_.data(), sent_.data());
  if (!real) return;
  for (std::int64_t i = 0; i < points(lines_); ++i) {
    one_[as_size(complex * i)] = real_[as_size(i)];
    one_[as_size(complex * i + 1)] = -real_[as_size(i)];
  }
}

/// Forward, to lines along x again, where LAMMPS multiplies them; and from there each component
/// back.
void Mesh::transform_each() {
  all_lines();
  z_to_x_.run(phases_, one_.data(), spectrum_.data(), sent_.data());
  for (int component = 0; component < components; ++component) {
    if (context_.meter.executes()) {
      const double factor = component + 1;
      std::transform(spectrum_.data(), spectrum_.data() + complex * points(lines_), one_.data(),
                     [=](double value) { return factor * value; });
    }
    all_lines();
    z_to_bricks_.run(phases_, one_.data(), owned_.data(), sent_.data());
    keep_field(component);
  }
}

/// The parts of all transforms that are alike, each once, and repeated.
void Mesh::transform_once() {
  Repeated lines(context_, phases_);
  all_lines();
  lines.again(components);
  z_to_x_.run(phases_, one_.data(), spectrum_.data(), sent_.data());
  Repeated back(context_, phases_);
  z_to_bricks_.run(phases_, one_.data(), owned_.data(), sent_.data());
  back.again(components - 1);
  keep_field(0);
}

/// Lines along x, y and z, one after the other; from and to the same array.
void Mesh::all_lines() {
  costs_.lines(Layout::along_x);
  x_to_y_.run(phases_, one_.data(), other_.data(), sent_.data());
  costs_.lines(Layout::along_y);
  y_to_z_.run(phases_, other_.data(), one_.data(), sent_.data());
  costs_.lines(Layout::along_z);
}

void Mesh::keep_field(int component) {
  if (!context_.meter.executes()) return;
  const double* value = owned_.data();
  for_lines(ghosts_.whole(), brick_, [&](std::int64_t place, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i, value += complex) {
      const bool whole = value[1] == -value[0];  // else one half came from another point
      field_[as_size(components * (place + i) + component)] = whole ? value[0] : 0;
    }
  });
}

std::string Mesh::fault() const {
  std::string found;
  const auto of_rank = " of rank " + std::to_string(context_.comm.rank());
  for_points(ghosts_.whole(),
             [&](std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t place) {
               if (!found.empty()) return;
               const auto all = copies(0, x) * copies(1, y) * copies(2, z);
               const double expected = static_cast<double>(all) * charge(x, y, z);
               for (int component = 0; component < (once_ ? 1 : components); ++component) {
                 const double is = field_[as_size(components * place + component)];
                 if (is == (component + 1) * expected) continue;
                 found = "component " + std::to_string(component) + " of the field at " +
                         place_of(x, y, z) + of_rank + " is not that of its point";
               }
             });
  return found;
}

}  // namespace halobench::md

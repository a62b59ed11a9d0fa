// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/sparse/sparse_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "numerics/hash.hpp"

namespace halobench {
namespace {

/// A neighbour on the grid, and what it adds to a row's number.
struct Neighbour {
  std::array<std::int64_t, 3> step;  ///< along x, y, z
  std::int64_t distance;
};

/// -1 for the neighbours of each point of a grid with n points along each axis.
class Stencil : public SparseRows {
 public:
  Stencil(std::int64_t n, int dimensions, bool corners)
      : n_(n), extents_{n, n, dimensions == 3 ? n : 1} {
    const std::int64_t z_most = dimensions == 3 ? 1 : 0;
    for (std::int64_t z = -z_most; z <= z_most; ++z) {
      for (std::int64_t y = -1; y <= 1; ++y) {
        for (std::int64_t x = -1; x <= 1; ++x) {
          if (!corners && std::abs(x) + std::abs(y) + std::abs(z) > 1) continue;
          neighbours_.push_back({{x, y, z}, x + n * (y + n * z)});
        }
      }
    }
  }

  std::int64_t rows() const override { return extents_[0] * extents_[1] * extents_[2]; }
  std::int64_t reach() const override { return neighbours_.back().distance; }
  bool symmetric() const override { return true; }

  double nonzeros() const override {
    double sum = 0;
    for (const auto& [step, distance] : neighbours_) {
      double pairs = 1;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        pairs *= static_cast<double>(extents_[axis] - std::abs(step[axis]));
      }
      sum += pairs;
    }
    return sum;
  }

  void visit(Range rows, const RowVisitor& visitor) const override {
    std::array<std::int64_t, 3> at{rows.begin % n_, rows.begin / n_ % n_, rows.begin / n_ / n_};
    std::vector<Entry> entries;
    for (auto row = rows.begin; row < rows.end; ++row) {
      entries.clear();
      for (const auto& [step, distance] : neighbours_) {
        if (inside(at, step)) entries.push_back({row + distance, distance == 0 ? centre() : -1.0});
      }
      visitor(row, entries);
      advance(at);
    }
  }

 private:
  double centre() const { return static_cast<double>(neighbours_.size() - 1); }

  bool inside(const std::array<std::int64_t, 3>& at,
              const std::array<std::int64_t, 3>& step) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto there = at[axis] + step[axis];
      if (there < 0 || there >= extents_[axis]) return false;
    }
    return true;
  }

  void advance(std::array<std::int64_t, 3>& at) const {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (++at[axis] < n_) return;
      at[axis] = 0;
    }
    ++at[2];
  }

  std::int64_t n_;
  std::array<std::int64_t, 3> extents_;
  std::vector<Neighbour> neighbours_;  ///< in the order of their distance
};

double random_value(std::uint64_t bits) { return 1.0 + static_cast<double>(bits >> 61U); }

/// One entry in each of `row_length` equal parts of a band, anywhere there.
class Random : public SparseRows {
 public:
  Random(std::int64_t n, std::int64_t row_length, std::int64_t bandwidth)
      : n_(n), row_length_(row_length), bandwidth_(bandwidth == 0 ? n : std::min(bandwidth, n)) {}

  std::int64_t rows() const override { return n_; }
  std::int64_t reach() const override { return bandwidth_; }
  bool symmetric() const override { return false; }
  double nonzeros() const override {
    const auto first = std::min(bandwidth_, n_);
    const auto last = std::max(first, n_ - bandwidth_);
    if (row_length_ <= bandwidth_ || first == last) return entries_in({0, n_});
    const auto inside = static_cast<double>(last - first) * entries_in({first, first + 1});
    return entries_in({0, first}) + inside + entries_in({last, n_});
  }

  void visit(Range rows, const RowVisitor& visitor) const override {
    std::vector<Entry> entries;
    for (auto row = rows.begin; row < rows.end; ++row) {
      entries.clear();
      const auto columns = band(row);
      const auto length = length_in(columns);
      for (std::int64_t k = 0; k < length; ++k) {
        const auto part = share(columns, length, k);
        const auto bits = hash(row, k);
        const auto offset = bits % static_cast<std::uint64_t>(part.size());
        entries.push_back({part.begin + static_cast<std::int64_t>(offset), random_value(bits)});
      }
      visitor(row, entries);
    }
  }

 private:
  Range band(std::int64_t row) const {
    return {row > bandwidth_ ? row - bandwidth_ : 0,
            row < n_ - bandwidth_ ? row + bandwidth_ + 1 : n_};
  }
  std::int64_t length_in(Range columns) const { return std::min(row_length_, columns.size()); }

  /// Of rows near the ends, which may be shorter, or all alike.
  double entries_in(Range rows) const {
    const auto count = static_cast<double>(rows.size());
    if (row_length_ <= bandwidth_) return count * static_cast<double>(std::min(row_length_, n_));
    double sum = 0;
    for (auto i = rows.begin; i < rows.end; ++i) sum += static_cast<double>(length_in(band(i)));
    return sum;
  }

  std::int64_t n_;
  std::int64_t row_length_;
  std::int64_t bandwidth_;
};

/// P(a row is longer than L) = (L / least)^-1.5, of which the mean is 3 least; and column c is
/// drawn with a density of c^(-1/1.5), so that the lengths of columns follow the same law.
class PowerLaw : public SparseRows {
 public:
  PowerLaw(std::int64_t n, std::int64_t mean_length)
      : n_(n), mean_(static_cast<double>(mean_length)) {}

  std::int64_t rows() const override { return n_; }
  double nonzeros() const override {
    return std::min(mean_, static_cast<double>(n_)) * static_cast<double>(n_);
  }
  bool symmetric() const override { return false; }

  void visit(Range rows, const RowVisitor& visitor) const override {
    std::vector<Entry> entries;
    for (auto row = rows.begin; row < rows.end; ++row) {
      entries.clear();
      const auto length = length_of(row);
      std::int64_t last = -1;
      for (std::int64_t k = 0; k < length; ++k) {
        const auto bits = hash(row, k);
        const double part = (static_cast<double>(k) + unit_interval(bits)) / double(length);
        const auto column = std::min(
            n_ - 1, static_cast<std::int64_t>(static_cast<double>(n_) * part * part * part));
        if (column > last) entries.push_back({column, random_value(hash(bits))});
        last = column;
      }
      visitor(row, entries);
    }
  }

 private:
  std::int64_t length_of(std::int64_t row) const {
    const double length = mean_ / 3 / std::cbrt(std::pow(unit_interval(hash(row, -1)), 2));
    return std::clamp(std::llround(std::min(length, 9e18)), 1LL, static_cast<long long>(n_));
  }

  std::int64_t n_;
  double mean_;
};

}  // namespace

std::vector<std::string> recipe_names() {
  return {"2d5", "2d9", "3d7", "3d27", "random", "power_law"};
}

std::unique_ptr<SparseRows> generated_rows(const Recipe& recipe) {
  const auto& [name, n, row_length, bandwidth] = recipe;
  if (name == "2d5") return std::make_unique<Stencil>(n, 2, false);
  if (name == "2d9") return std::make_unique<Stencil>(n, 2, true);
  if (name == "3d7") return std::make_unique<Stencil>(n, 3, false);
  if (name == "3d27") return std::make_unique<Stencil>(n, 3, true);
  if (name == "random") return std::make_unique<Random>(n, row_length, bandwidth);
  if (name == "power_law") return std::make_unique<PowerLaw>(n, row_length);
  return nullptr;
}

}  // namespace halobench

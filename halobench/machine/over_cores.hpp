// SPDX-License-Identifier: BSD-3-Clause
// A quantity of a node that is known for some numbers of its cores.
#pragma once

#include <algorithm>
#include <vector>

namespace halobench {

/// A straight line between the numbers of cores that it is given for, from nothing for none on; for
/// more cores than the last, what that has.
class OverCores {
 public:
  void add(double cores, double value) {
    points_.push_back({cores, value});
    std::ranges::sort(points_, {}, &Point::cores);
  }

  bool empty() const { return points_.empty(); }

  double at(double cores) const {
    Point below{0, 0};
    for (const auto& point : points_) {
      if (cores <= point.cores) {
        const double slope = (point.value - below.value) / (point.cores - below.cores);
        return below.value + slope * (cores - below.cores);
      }
      below = point;
    }
    return below.value;
  }

 private:
  struct Point {
    double cores;
    double value;
  };

  std::vector<Point> points_;
};

}  // namespace halobench

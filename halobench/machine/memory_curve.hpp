// What the memory of a node gives to so many of its cores together.
#pragma once

#include <algorithm>
#include <vector>

namespace halobench {

/// A straight line between the numbers of cores that it is given for, from nothing for none on; for
/// more cores than the last, what that has.
class MemoryCurve {
 public:
  void add(double cores, double bandwidth_bytes_per_s) {
    points_.push_back({cores, bandwidth_bytes_per_s});
    std::ranges::sort(points_, {}, &Point::cores);
  }

  bool empty() const { return points_.empty(); }

  double bandwidth_bytes_per_s(double cores) const {
    Point below{0, 0};
    for (const auto& point : points_) {
      if (cores <= point.cores) {
        const double slope = (point.bandwidth_bytes_per_s - below.bandwidth_bytes_per_s) /
                             (point.cores - below.cores);
        return below.bandwidth_bytes_per_s + slope * (cores - below.cores);
      }
      below = point;
    }
    return below.bandwidth_bytes_per_s;
  }

 private:
  struct Point {
    double cores;
    double bandwidth_bytes_per_s;
  };

  std::vector<Point> points_;
};

}  // namespace halobench

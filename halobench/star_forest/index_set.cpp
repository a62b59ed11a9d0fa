// SPDX-License-Identifier: BSD-3-Clause
#include "star_forest/index_set.hpp"

#include <algorithm>
#include <optional>

#include "base/as_size.hpp"

namespace halobench {
namespace {

constexpr std::int64_t least_box = 8;  ///< indices in a box, on average, that make boxes worth it
constexpr std::int64_t enough_boxes = 64;  ///< to tell that they will be small
constexpr std::size_t numbers_of_a_box = 6;

/// One index sequence seen from a position of it.
struct Listed {
  const std::int64_t* indices;
  std::int64_t operator[](std::int64_t i) const { return indices[i]; }
};

struct Consecutive {
  std::int64_t start;
  std::int64_t operator[](std::int64_t i) const { return start + i; }
};

/// Finds the boxes of two sequences that go the same way.
template <class From, class To>
class Finder {
 public:
  Finder(From from, To to, std::int64_t count) : from_(from), to_(to), count_(count) {}

  /// Nothing where the boxes would be too small; given up where the first ones are.
  std::optional<Route> find() {
    const auto most = std::max<std::int64_t>(1, count_ / least_box);
    Route found{{count_, {}, {}}, {count_, {}, {}}};
    for (std::int64_t begin = 0; begin < count_;) {
      const auto boxes = std::ssize(found.from.boxes);
      if (boxes == most || (boxes - enough_boxes) * least_box > begin) return std::nullopt;
      const auto extents = extents_at(begin);
      found.from.boxes.push_back(box(from_, begin, extents));
      found.to.boxes.push_back(box(to_, begin, extents));
      begin += extents[0] * extents[1] * extents[2];
    }
    return found;
  }

 private:
  using Counts = std::array<std::int64_t, 3>;

  /// Of the largest box at `begin`: the longest row, as many like it as follow at one distance, as
  /// many such planes.
  Counts extents_at(std::int64_t begin) const {
    Counts extents{1, 1, 1};
    auto& [row, rows, planes] = extents;
    while (begin + row < count_ && moved(begin + row, begin + row - 1, 1, 1)) ++row;
    while (repeats(begin, row, rows)) ++rows;
    if (rows > 1) {
      while (repeats(begin, row * rows, planes)) ++planes;
    }
    return extents;
  }

  /// Whether copy number `copies` of the `size` indices at `begin` follows, each as far from its
  /// original as the first copy's first.
  bool repeats(std::int64_t begin, std::int64_t size, std::int64_t copies) const {
    const auto next = begin + copies * size;
    if (next + size > count_) return false;
    const auto step_from = copies * (from_[begin + size] - from_[begin]);
    const auto step_to = copies * (to_[begin + size] - to_[begin]);
    for (std::int64_t i = 0; i < size; ++i) {
      if (!moved(next + i, begin + i, step_from, step_to)) return false;
    }
    return true;
  }

  bool moved(std::int64_t i, std::int64_t origin, std::int64_t by_from, std::int64_t by_to) const {
    return from_[i] - from_[origin] == by_from && to_[i] - to_[origin] == by_to;
  }

  template <class Side>
  static Box box(const Side& indices, std::int64_t begin, const Counts& extents) {
    const auto stride = [&](std::int64_t copies, std::int64_t size) {
      return copies > 1 ? indices[begin + size] - indices[begin] : 0;
    };
    return {indices[begin],
            extents,
            {stride(extents[1], extents[0]), stride(extents[2], extents[0] * extents[1])}};
  }

  From from_;
  To to_;
  std::int64_t count_;
};

/// `body` with what reads the indices.
template <class Body>
auto reading(const Sequence& indices, Body&& body) {
  return indices.is_run() ? body(Consecutive{indices.start()})
                          : body(Listed{indices.list().data()});
}

}  // namespace

IndexSet IndexSet::run(std::int64_t start, std::int64_t count) {
  if (count == 0) return {};
  return {count, {{start, {count, 1, 1}, {0, 0}}}, {}};
}

bool IndexSet::is_run() const {
  return count == 0 || (boxes.size() == 1 && boxes.front().extents[0] == count);
}

std::pair<std::int64_t, std::int64_t> IndexSet::bounds() const {
  if (boxes.empty()) {
    auto low = list.front();
    auto high = low;
    for (const auto index : list) {  // not minmax(): it compares neighbours, which takes branches
      low = std::min(low, index);
      high = std::max(high, index);
    }
    return {low, high};
  }
  auto low = boxes.front().start;
  auto high = low;
  for (const auto& box : boxes) {
    auto box_low = box.start;
    auto box_high = box.start + box.extents[0] - 1;
    for (std::size_t axis = 0; axis < box.strides.size(); ++axis) {
      const auto reach = (box.extents[axis + 1] - 1) * box.strides[axis];
      (reach < 0 ? box_low : box_high) += reach;
    }
    low = std::min(low, box_low);
    high = std::max(high, box_high);
  }
  return {low, high};
}

Indices IndexSet::serialise(IndexSet set) {
  auto numbers = std::move(set.list);
  for (const auto& box : set.boxes) {
    numbers.push_back(box.start);
    numbers.insert(numbers.end(), box.extents.begin(), box.extents.end());
    numbers.insert(numbers.end(), box.strides.begin(), box.strides.end());
  }
  numbers.push_back(std::ssize(set.boxes));
  return numbers;
}

IndexSet IndexSet::deserialise(Indices numbers) {
  IndexSet set;
  const auto boxes = as_size(numbers.back());
  numbers.pop_back();
  for (std::size_t i = 0; i < boxes; ++i) {
    const auto* n = numbers.data() + i * numbers_of_a_box;
    set.boxes.push_back({n[0], {n[1], n[2], n[3]}, {n[4], n[5]}});
    set.count += set.boxes.back().count();
  }
  if (boxes == 0) {
    set.count = std::ssize(numbers);
    set.list = std::move(numbers);
  }
  return set;
}

bool some_index_twice(const std::vector<Placed>& sets) {
  using Row = std::pair<std::int64_t, std::int64_t>;  // its first index, and the end
  std::vector<Row> rows;
  for (const auto& [set, place] : sets) {
    for (const auto index : set->list) rows.emplace_back(place + index, place + index + 1);
    for (const auto& box : set->boxes) {
      if (box.count() == 0) continue;
      for (std::int64_t k = 0; k < box.extents[2]; ++k) {
        for (std::int64_t j = 0; j < box.extents[1]; ++j) {
          const auto begin = place + box.start + j * box.strides[0] + k * box.strides[1];
          rows.emplace_back(begin, begin + box.extents[0]);
        }
      }
    }
  }
  std::ranges::sort(rows);
  const auto overlap = [](const Row& one, const Row& next) { return next.first < one.second; };
  return std::ranges::adjacent_find(rows, overlap) != rows.end();
}

Sequence Sequence::run(std::int64_t start, std::int64_t count) {
  Sequence run;
  run.start_ = start;
  run.count_ = count;
  return run;
}

Sequence Sequence::unset(std::int64_t count) {
  Indices list;
  list.reserve(as_size(count) + 1);  // and what serialise() adds
  list.resize(as_size(count));
  return list;
}

IndexSet Sequence::described() && {
  if (run_) return IndexSet::run(start_, count_);
  const auto gap = std::ranges::adjacent_find(
      list_, [](std::int64_t one, std::int64_t next) { return next != one + 1; });
  if (gap == list_.end()) return IndexSet::run(list_.front(), count_);
  return {count_, {}, std::move(list_)};
}

Route route(Sequence from, Sequence to) {
  if (from.count() == 0) return {};
  if (!from.is_run() || !to.is_run()) {
    auto found = reading(from, [&](auto source) {
      return reading(to, [&](auto target) { return Finder(source, target, from.count()).find(); });
    });
    if (found) return *std::move(found);
  }
  return {std::move(from).described(), std::move(to).described()};
}

Route packing(Sequence from) {
  const auto count = from.count();
  return route(std::move(from), Sequence::run(0, count));
}

Route packing(IndexSet from) {
  if (from.boxes.empty()) {
    const auto count = from.count;
    return {std::move(from), IndexSet::run(0, count)};
  }
  IndexSet to{from.count, {}, {}};
  std::int64_t start = 0;
  for (const auto& box : from.boxes) {
    const auto row = box.extents[0];
    to.boxes.push_back({start, box.extents, {row, row * box.extents[1]}});
    start += box.count();
  }
  return {std::move(from), std::move(to)};
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Indices as boxes or lists: what is described, and that it stays the same indices.
#include <algorithm>
#include <random>

#include "expect.hpp"
#include "star_forest/index_set.hpp"

using namespace halobench;

namespace {

Indices enumerate(const IndexSet& set) {
  Indices indices;
  set.for_each([&](std::int64_t index) { indices.push_back(index); });
  return indices;
}

/// A route says exactly what the two lists say, and its packed form survives a message.
void holds(const Indices& from, const Indices& to) {
  const auto found = route(from, to);
  expect::is_true(enumerate(found.from) == from, "other indices to come from");
  expect::is_true(enumerate(found.to) == to, "other indices to go to");
  const auto packed = packing(from);
  const auto again = packing(IndexSet::deserialise(IndexSet::serialise(packed.from)));
  Indices places(from.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  expect::is_true(again.from == packed.from, "a message changed the indices");
  expect::is_true(enumerate(packed.from) == from, "other indices are packed");
  expect::is_true(enumerate(packed.to) == places, "not packed one after another");
  expect::is_true(enumerate(again.to) == places, "not packed one after another");
  if (from.empty()) return;
  const auto [low, high] = packed.from.bounds();
  expect::equal(low, *std::ranges::min_element(from));
  expect::equal(high, *std::ranges::max_element(from));
}

/// Indices of a box of an array, x fastest.
Indices box(std::int64_t start, std::array<std::int64_t, 3> extents, std::int64_t y,
            std::int64_t z) {
  return enumerate(IndexSet{0, {{start, extents, {y, z}}}, {}});
}

void runs_and_boxes_are_found() {
  const auto boxes = [](const Indices& indices) { return packing(indices).from.boxes; };
  expect::is_true(packing(Indices{}).from.is_run(), "nothing is a run");
  expect::is_true(packing(Indices{7}).from.is_run(), "one index is a run");
  expect::is_true(packing(box(5, {9, 1, 1}, 0, 0)).from.is_run(), "a run");
  expect::is_true(!packing(box(5, {9, 2, 1}, 10, 0)).from.is_run(), "two rows are not a run");
  expect::equal(boxes(box(5, {4, 3, 2}, 10, 70)).size(), 1U);
  expect::equal(boxes(box(5, {1, 9, 1}, 10, 0)).size(), 1U);   // a column
  expect::equal(boxes(box(50, {3, 4, 3}, -5, 6)).size(), 1U);  // rows backwards
  expect::equal(boxes(Indices(20, 3)).size(), 1U);             // one root of many leaves
  auto faces = box(0, {1, 16, 1}, 18, 0);
  const auto other = box(17, {1, 16, 1}, 18, 0);
  faces.insert(faces.end(), other.begin(), other.end());
  expect::equal(boxes(faces).size(), 1U);  // two columns: two planes of one box
  const auto edge = box(200, {16, 1, 1}, 0, 0);
  faces.insert(faces.end(), edge.begin(), edge.end());
  expect::equal(boxes(faces).size(), 2U);
}

void no_boxes_where_a_list_is_shorter() {
  const Indices scattered{5, 3, 8, 1, 9, 2, 14, 7, 70, 40};
  expect::equal(packing(scattered).from.boxes.size(), 0U);
  expect::equal(packing(scattered).from.list.size(), scattered.size());
}

/// A run that goes into a box is copied row by row.
void two_sides_share_their_boxes() {
  const auto into = box(11, {8, 8, 1}, 10, 0);
  const auto found = route(box(0, {64, 1, 1}, 0, 0), into);
  expect::equal(found.from.boxes.size(), 1U);
  expect::equal(found.from.boxes[0].extents[0], 8);
  expect::equal(found.from.boxes[0].strides[0], 8);
  expect::equal(found.to.boxes[0].strides[0], 10);
}

void any_indices_stay_the_same() {
  std::mt19937 random(1);
  const auto number = [&](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  for (int round = 0; round < 300; ++round) {
    Indices from;
    Indices to;
    for (int piece = number(4); piece >= 0; --piece) {
      const std::array<std::int64_t, 3> extents{1 + number(9), 1 + number(4), 1 + number(3)};
      const auto one = box(number(100), extents, number(30), number(100));
      const auto two = round % 2 == 0 ? box(number(100), extents, number(30), number(100)) : one;
      const auto rest = static_cast<std::ptrdiff_t>(number(5) == 0 ? one.size() / 2 : 0);
      from.insert(from.end(), one.begin() + rest, one.end());
      to.insert(to.end(), two.begin() + rest, two.end());
    }
    holds(from, to);
  }
  holds({}, {});
}

/// Where values meet, a device must add them one by one.
void indices_that_come_twice_are_found() {
  const auto run = IndexSet::run(0, 5);
  const IndexSet list{3, {}, {7, 3, 9}};
  const IndexSet again{3, {}, {7, 3, 7}};
  const auto rows = packing(box(0, {3, 4, 3}, 4, 20)).from;
  const auto folded = packing(box(0, {3, 4, 3}, 2, 20)).from;
  const auto backwards = packing(box(50, {3, 4, 3}, -5, 60)).from;
  const auto one_root = packing(Indices(20, 3)).from;
  for (const auto* apart : {&run, &list, &rows, &backwards}) {
    expect::is_true(!some_index_twice({{apart, 0}}), "none comes twice");
  }
  for (const auto* twice : {&again, &folded, &one_root}) {
    expect::is_true(some_index_twice({{twice, 0}}), "one comes twice");
  }
  expect::is_true(some_index_twice({{&run, 0}, {&list, 0}}), "3 is in both");
  expect::is_true(!some_index_twice({{&run, 0}, {&list, 5}}), "one is moved away");
  expect::is_true(!some_index_twice({{&run, 0}, {&run, 5}}), "one begins where the other ends");
  expect::is_true(!some_index_twice({}), "nothing comes twice");
}

}  // namespace

int main() {
  indices_that_come_twice_are_found();
  runs_and_boxes_are_found();
  no_boxes_where_a_list_is_shorter();
  two_sides_share_their_boxes();
  any_indices_stay_the_same();
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
// How the grid is cut, and how a piece of it is laid out in memory.
#include <utility>
#include <vector>

#include "base/as_size.hpp"
#include "expect.hpp"
#include "numerics/grid.hpp"

using namespace halobench;

namespace {

void shares_are_even_and_complete() {
  for (const std::int64_t count : {1, 2, 7, 64, 1000}) {
    for (std::int64_t parts = 1; parts <= count && parts <= 9; ++parts) {
      std::int64_t next = 5;
      for (std::int64_t i = 0; i < parts; ++i) {
        const auto part = share({5, 5 + count}, parts, i);
        expect::equal(part.begin, next);
        expect::is_true(part.size() == count / parts || part.size() == count / parts + 1, "even");
        next = part.end;
      }
      expect::equal(next, 5 + count);
    }
  }
}

void a_field_has_room_for_its_halo() {
  for (const auto& [cols, halo] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {7, 1}, {8, 1}, {500, 1}, {503, 1}, {504, 1}, {5, 4}, {496, 8}, {504, 7}}) {
    const Layout layout({{3, 5}, {0, cols}}, halo);
    std::vector<double> memory(as_size(layout.size()));
    const auto field = layout.field(memory.data());
    expect::is_true(field.row(-halo - 1) - halo - 1 >= memory.data(), "a halo and its rim above");
    expect::is_true(field.row(2 + halo) + cols + halo < memory.data() + layout.size(), "and below");
    expect::is_true(field.stride > cols + 2 * halo + 1, "the halo columns of two rows are apart");
    expect::is_true(field.stride % 512 != 0, "rows do not share cache sets");
    for (auto& value : memory) value = 1;
    layout.clear(field);
    for (const double value : memory) expect::equal(value, 0.0);
  }
}

}  // namespace

int main() {
  shares_are_even_and_complete();
  a_field_has_room_for_its_halo();
  return expect::exit_code();
}

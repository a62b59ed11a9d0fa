// SPDX-License-Identifier: BSD-3-Clause
// A sweep of several iterations and its moments, against one vector operation after another.
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/as_size.hpp"
#include "expect.hpp"
#include "kernels/poisson_cg/sstep/sstep_sweep.hpp"

using namespace halobench;
using halobench::cg::SstepSweep;

namespace {

using Vector = Field Strip::*;

constexpr std::int64_t n = 31;

/// A part of the grid with its halo, x, r and p a function of the place in the whole grid alone.
class Part {
 public:
  Part(const Rectangle& place, std::int64_t s) {
    const Layout layout(place, 2 * s);
    memory_.resize(as_size(4 * layout.size()));
    strip.place = place;
    double* next = memory_.data();
    for (const Vector vector : {&Strip::x, &Strip::r, &Strip::p, &Strip::q}) {
      strip.*vector = layout.field(next);
      next += layout.size();
    }
    for (std::int64_t i = -2 * s; i < strip.rows() + 2 * s; ++i) {
      for (std::int64_t j = -2 * s; j < strip.cols() + 2 * s; ++j) fill(i, j);
    }
  }

  Strip strip;

 private:
  void fill(std::int64_t i, std::int64_t j) const {
    const auto row = place().rows.begin + i;
    const auto col = place().cols.begin + j;
    if (!Rectangle{{0, n}, {0, n}}.contains(row, col)) return;
    std::minstd_rand generator(static_cast<unsigned>(1 + row * n + col));
    generator.discard(10);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const Vector vector : {&Strip::x, &Strip::r, &Strip::p}) {
      (strip.*vector).row(i)[j] = uniform(generator);
    }
  }
  const Rectangle& place() const { return strip.place; }

  std::vector<double> memory_;
};

void near(double found, double expected,
          std::source_location where = std::source_location::current()) {
  expect::is_true(std::abs(found - expected) <= 1e-11 * (1 + std::abs(expected)),
                  std::to_string(found) + " is not " + std::to_string(expected), where);
}

double total(const Strip& strip, Vector a, Vector b) {
  double sum = 0;
  for (std::int64_t i = 0; i < strip.rows(); ++i) {
    sum += dot((strip.*a).row(i), (strip.*b).row(i), strip.cols());
  }
  return sum;
}

void multiply_all(const Strip& strip, Vector to, Vector from) {
  for (std::int64_t i = 0; i < n; ++i) multiply(strip.*to, strip.*from, i, {0, n});
}

/// The iterations of `pairs` on the whole grid.
void iterate(const Strip& whole, const std::vector<TwoIterations>& pairs) {
  for (const auto& [alpha0, beta0, alpha1, beta1] : pairs) {
    for (const auto& [alpha, beta] : {std::pair{alpha0, beta0}, std::pair{alpha1, beta1}}) {
      for (std::int64_t i = 0; i < n; ++i) turn(whole.p.row(i), whole.r.row(i), beta, n);
      multiply_all(whole, &Strip::q, &Strip::p);
      for (std::int64_t i = 0; i < n; ++i) {
        add(whole.x.row(i), alpha, whole.p.row(i), n);
        add(whole.r.row(i), -alpha, whole.q.row(i), n);
      }
    }
  }
}

/// (r, A^l r), (r, A^l p), (p, A^l p) for l < 2 s; destroys p, x and q.
std::vector<double> moments(const Strip& whole, std::int64_t s) {
  std::vector<double> r;
  std::vector<double> rp;
  std::vector<double> p;
  const Part copies({{0, n}, {0, n}}, s);
  Strip work = whole;
  work.q = copies.strip.x;  // r
  for (std::int64_t i = 0; i < n; ++i) std::copy_n(whole.r.row(i), n, work.q.row(i));
  for (std::int64_t l = 0; l < 2 * s; ++l) {
    r.push_back(total(work, &Strip::r, &Strip::q));
    work.z = copies.strip.r;
    multiply_all(work, &Strip::z, &Strip::q);
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(work.z.row(i), n, work.q.row(i));
  }
  for (std::int64_t i = 0; i < n; ++i) std::copy_n(whole.p.row(i), n, work.q.row(i));
  for (std::int64_t l = 0; l < 2 * s; ++l) {
    rp.push_back(total(work, &Strip::r, &Strip::q));
    p.push_back(total(work, &Strip::p, &Strip::q));
    multiply_all(work, &Strip::z, &Strip::q);
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(work.z.row(i), n, work.q.row(i));
  }
  r.insert(r.end(), rp.begin(), rp.end());
  r.insert(r.end(), p.begin(), p.end());
  return r;
}

/// Sweeps and measurements of parts that make up the grid, against the whole grid.
void parts_do_what_the_whole_does(const std::vector<Rectangle>& places, std::int64_t s) {
  std::vector<TwoIterations> pairs{{0.2, 0.3, 0.15, 0.4}, {0.1, 0.5, 0.25, 0.2}};
  pairs.resize(as_size(s / 2));
  const Part whole({{0, n}, {0, n}}, s);
  iterate(whole.strip, pairs);
  std::vector<double> light(as_size(6 * s));
  Memory memory(false);
  for (const auto& place : places) {
    const Part part(place, s);
    const SstepSweep sweep(memory, part.strip, n, s);
    std::vector<double> sums(as_size(6 * s * part.strip.rows()));
    sweep.advance(pairs, sums.data(), 6 * s);
    for (std::size_t k = 0; k < sums.size(); ++k) light[k % light.size()] += sums[k];
    for (std::int64_t i = 0; i < part.strip.rows(); ++i) {
      for (const Vector vector : {&Strip::x, &Strip::r, &Strip::p}) {
        for (std::int64_t j = 0; j < part.strip.cols(); ++j) {
          near((part.strip.*vector).row(i)[j],
               (whole.strip.*vector).row(place.rows.begin + i)[place.cols.begin + j]);
        }
      }
    }
  }
  SstepSweep::finish(light.data(), s);
  const auto expected = moments(whole.strip, s);
  for (std::size_t l = 0; l < as_size(2 * s); ++l) near(light[l], expected[l]);
}

void measured_moments_are_inner_products(const std::vector<Rectangle>& places, std::int64_t s) {
  std::vector<double> all(as_size(6 * s));
  Memory memory(false);
  for (const auto& place : places) {
    const Part part(place, s);
    const SstepSweep sweep(memory, part.strip, n, s);
    std::vector<double> sums(as_size(6 * s * part.strip.rows()));
    sweep.measure(sums.data(), 6 * s);
    for (std::size_t k = 0; k < sums.size(); ++k) all[k % all.size()] += sums[k];
  }
  const Part whole({{0, n}, {0, n}}, s);
  const auto expected = moments(whole.strip, s);
  for (std::size_t l = 0; l < all.size(); ++l) {
    if (l != as_size(4 * s)) near(all[l], expected[l]);  // (p, p) is not used
  }
}

}  // namespace

int main() {
  for (const std::int64_t s : {2, 4}) {
    for (const std::int64_t row : {n, std::int64_t{12}}) {
      for (const std::int64_t col : {n, std::int64_t{17}}) {
        std::vector<Rectangle> places;
        for (const Range rows : {Range{0, row}, Range{row, n}}) {
          for (const Range cols : {Range{0, col}, Range{col, n}}) {
            if (rows.size() > 0 && cols.size() > 0) places.push_back({rows, cols});
          }
        }
        parts_do_what_the_whole_does(places, s);
        measured_moments_are_inner_products(places, s);
      }
    }
  }
  return expect::exit_code();
}

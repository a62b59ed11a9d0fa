// SPDX-License-Identifier: BSD-3-Clause
// The scalars of s iterations against CG itself, on a diagonal matrix.
#include <cmath>
#include <cstddef>
#include <vector>

#include "expect.hpp"
#include "numerics/poisson/sstep_scalars.hpp"

using halobench::Moments;
using halobench::SstepScalars;

namespace {

using Vector = std::vector<double>;

constexpr std::size_t size = 24;

double eigenvalue(std::size_t i) { return 0.1 + 0.3 * static_cast<double>(i); }

/// (a, A^power b)
double product(const Vector& a, const Vector& b, std::size_t power) {
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    sum += a[i] * b[i] * std::pow(eigenvalue(i), static_cast<double>(power));
  }
  return sum;
}

/// The textbook's method, one iteration at a time.
struct Reference {
  Vector r = Vector(size, 1.0);
  Vector p = Vector(size, 0.0);
  double residual = 0;
  double alpha = 0;
  double beta = 0;

  void iterate() {
    const double now = product(r, r, 0);
    beta = residual == 0 ? 0 : now / residual;
    residual = now;
    for (std::size_t i = 0; i < size; ++i) p[i] = r[i] + beta * p[i];
    alpha = residual / product(p, p, 1);
    for (std::size_t i = 0; i < size; ++i) r[i] -= alpha * eigenvalue(i) * p[i];
  }

  Moments moments(std::size_t s, bool all) const {
    Moments found;
    for (std::size_t l = 0; l < 2 * s; ++l) {
      found.residual.push_back(product(r, r, l));
      if (all) found.mixed.push_back(product(r, p, l));
      if (all) found.direction.push_back(product(p, p, l));
    }
    return found;
  }
};

void close(double found, double expected,
           std::source_location where = std::source_location::current()) {
  expect::is_true(std::abs(found - expected) <= 1e-7 * std::abs(expected),
                  std::to_string(found) + " is not " + std::to_string(expected), where);
}

/// `every`: how often all moments are used.
void they_are_those_of_the_textbook(std::size_t s, int every) {
  Reference reference;
  SstepScalars scalars(s, 8);
  for (int step = 0; step < 3; ++step) {
    const bool found = scalars.find(reference.moments(s, step % every == 0));
    expect::is_true(found, "good moments");
    for (std::size_t j = 0; j < s; ++j) {
      reference.iterate();
      close(scalars.residual(j), reference.residual);
      close(scalars.alpha(j), reference.alpha);
      close(scalars.beta(j), reference.beta);
    }
    scalars.done(s);
  }
}

void spoilt_moments_are_noticed() {
  const Reference start;
  const auto find = [&](std::size_t index, double factor, bool all) {
    auto moments = start.moments(2, all);
    moments.residual[index] *= factor;
    return SstepScalars(2, 8).find(moments);
  };
  for (const bool all : {false, true}) {
    expect::is_true(find(0, 1, all), "good ones");
    expect::is_true(!find(0, -1, all), "(r, r) is negative");
    expect::is_true(!find(1, -1, all), "(r, A r) is negative");
    const bool found = SstepScalars(2, 3).find(start.moments(2, all));
    expect::is_true(!found, "(r, A r) / (r, r) is above what is said to be the largest eigenvalue");
    expect::is_true(!find(2, 0.5, all), "(A r, A r) (r, r) is below (r, A r)^2");
    expect::is_true(!find(3, NAN, all), "not a number");
  }
}

}  // namespace

int main() {
  for (const std::size_t s : {2, 4, 6}) {
    they_are_those_of_the_textbook(s, 1);
    they_are_those_of_the_textbook(s, 2);
    they_are_those_of_the_textbook(s, 9);
  }
  spoilt_moments_are_noticed();
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/poisson/sstep_scalars.hpp"

#include <cmath>
#include <numeric>

namespace halobench {
namespace {

using Real = long double;
using Vector = std::vector<Real>;

Real dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Real{0});
}

/// A symmetric tridiagonal matrix; beside[i] couples i and i + 1.
struct Tridiagonal {
  Vector diagonal;
  Vector beside;

  explicit Tridiagonal(std::size_t size) : diagonal(size), beside(size) {}

  Vector times(const Vector& v) const {
    Vector product(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      product[i] += diagonal[i] * v[i];
      if (i + 1 == v.size()) break;
      product[i] += beside[i] * v[i + 1];
      product[i + 1] += beside[i] * v[i];
    }
    return product;
  }
};

/// A vector as a combination of A^k r and A^k p, k = 0 ... s.
struct Combination {
  Vector r;
  Vector p;

  explicit Combination(std::size_t s) : r(s + 1), p(s + 1) {}

  /// *this = *this times `own` + `factor` A^shift other
  void add(Real own, Real factor, const Combination& other, std::size_t shift) {
    for (std::size_t k = r.size(); k-- > 0;) {
      r[k] = own * r[k] + (k < shift ? 0 : factor * other.r[k - shift]);
      p[k] = own * p[k] + (k < shift ? 0 : factor * other.p[k - shift]);
    }
  }

  /// (a, A^shift a)
  Real square(const Moments& moments, std::size_t shift) const {
    Real sum = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      for (std::size_t j = 0; j < r.size(); ++j) {
        const std::size_t l = i + j + shift;
        if (l >= moments.residual.size()) break;
        sum += r[i] * r[j] * moments.residual[l] + 2 * r[i] * p[j] * moments.mixed[l] +
               p[i] * p[j] * moments.direction[l];
      }
    }
    return sum;
  }
};

}  // namespace

SstepScalars::SstepScalars(std::size_t s, double largest_eigenvalue)
    : s_(s), largest_eigenvalue_(largest_eigenvalue), now_(s) {}

SstepScalars::Iteration SstepScalars::past(std::size_t back) const {
  return back <= past_.size() ? past_[past_.size() - back] : Iteration{};
}

double SstepScalars::next_beta(double residual) const {
  return past_.empty() ? 0.0 : static_cast<double>(residual / past(1).residual);
}

void SstepScalars::done(std::size_t count) {
  past_.insert(past_.end(), now_.begin(), now_.begin() + static_cast<std::ptrdiff_t>(count));
  if (past_.size() > s_ + 1)
    past_.erase(past_.begin(), past_.end() - static_cast<std::ptrdiff_t>(s_ + 1));
}

bool SstepScalars::plausible(const Iteration& now, const Iteration& last) const {
  if (!(now.residual > 0 && now.alpha > 0 && std::isfinite(now.alpha))) return false;
  const Real coupling = now.beta == 0 ? 0 : now.beta / last.alpha;
  return coupling >= 0 && 1 / now.alpha + coupling < largest_eigenvalue_;
}

bool SstepScalars::find(const Moments& moments) {
  return moments.mixed.empty() ? from_residual(moments.residual) : from_all(moments);
}

/// Lanczos' matrix J, which is A in the basis of the normalised residuals, is known from the
/// iterations done: its diagonal is 1 / alpha_k + beta_k / alpha_(k-1), and sqrt(beta_(k+1)) /
/// alpha_k is next to it. With y_i = J^i e, e for the present residual, the moments are m_2i =
/// y_i . y_i and m_(2i+1) = y_i . J y_i, relative to (r, r). Each of them has one new entry of J in
/// it. All this takes for granted that the residuals are orthogonal.
bool SstepScalars::from_residual(const std::vector<double>& moments) {
  Tridiagonal j(2 * s_ + 1);  // the present residual is number s
  for (std::size_t i = 1; i <= s_ && i <= past_.size(); ++i) {
    const auto done = past(i);
    const Real beta_next = i == 1 ? moments[0] / done.residual : past(i - 1).beta;
    j.beside[s_ - i] = std::sqrt(beta_next) / done.alpha;
    j.diagonal[s_ - i] = 1 / done.alpha + (done.beta == 0 ? 0 : done.beta / past(i + 1).alpha);
  }
  Vector y(2 * s_ + 1);
  y[s_] = 1;
  Iteration last = past(1);
  const Real first = moments[0];
  for (std::size_t i = 0; i < s_; ++i) {
    const std::size_t top = s_ + i;
    auto& now = now_[i];
    if (i == 0) {
      now.beta = past_.empty() ? 0 : first / last.residual;
      now.residual = first;
    } else {
      const Real foot = y[top - 1];
      y = j.times(y);
      y[top] = std::sqrt(moments[2 * i] / first - dot(y, y));
      j.beside[top - 1] = y[top] / foot;
      now.beta = std::pow(j.beside[top - 1] * last.alpha, 2);
      now.residual = now.beta * last.residual;
    }
    j.diagonal[top] = (moments[2 * i + 1] / first - dot(y, j.times(y))) / (y[top] * y[top]);
    now.alpha = 1 / (j.diagonal[top] - (now.beta == 0 ? 0 : now.beta / last.alpha));
    if (!plausible(now, last)) return false;
    last = now;
  }
  return true;
}

/// CG on combinations of powers: nothing is taken for granted but that beta makes p conjugate.
bool SstepScalars::from_all(const Moments& moments) {
  Combination r(s_);
  Combination p(s_);
  r.r[0] = 1;
  p.p[0] = 1;
  Iteration last = past(1);
  for (auto& now : now_) {
    now.residual = r.square(moments, 0);
    now.beta = past_.empty() && &now == now_.data() ? 0 : now.residual / last.residual;
    p.add(now.beta, 1, r, 0);
    now.alpha = now.residual / p.square(moments, 1);
    if (!plausible(now, last)) return false;
    r.add(1, -now.alpha, p, 1);
    last = now;
  }
  return true;
}

}  // namespace halobench

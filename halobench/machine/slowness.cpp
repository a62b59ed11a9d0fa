// SPDX-License-Identifier: BSD-3-Clause
#include "machine/slowness.hpp"

#include <cmath>
#include <numbers>

namespace halobench {
namespace {

/// The mixing step of SplitMix64 (Steele, Lea, Flood 2014): each bit depends on all those before.
std::uint64_t mixed(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

std::uint64_t with(std::uint64_t bits, std::string_view name) {
  for (const char each : name) bits = mixed(bits ^ static_cast<unsigned char>(each));
  return mixed(bits ^ name.size());
}

/// Above 0, up to 1.
double uniform(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11U) + 1) / 9007199254740992.0;  // of 2^53
}

/// A standard normal number, by Box and Muller.
double normal(std::uint64_t bits) {
  const double radius = std::sqrt(-2 * std::log(uniform(mixed(bits))));
  return radius * std::cos(2 * std::numbers::pi * uniform(mixed(~bits)));
}

}  // namespace

Slowness::Slowness(const Spread& spread, std::string_view host)
    : spread_(spread),
      host_(host),
      node_(spread.slowest * std::exp(spread.nodes * normal(with(mixed(spread.seed), host)))) {}

double Slowness::of_phase(std::string_view name) const {
  const auto own = with(with(mixed(spread_.seed), host_), name);
  return node_ * std::exp(spread_.phases * normal(own));
}

}  // namespace halobench

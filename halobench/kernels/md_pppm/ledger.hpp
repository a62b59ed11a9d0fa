// SPDX-License-Identifier: BSD-3-Clause
// What a rank has sent: messages and bytes, to whom, in which phase.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/simulation.hpp"

namespace halobench::md {

struct Sent {
  double messages = 0;
  double bytes = 0;
};

/// Kept by phase; for real by receiver too. (Of thousands of simulated ranks that would be much.)
class Ledger {
 public:
  static constexpr int anybody = -1;

  void add(const std::string& phase, int to, double bytes) {
    auto& one = sent_[{phase, simulated() ? anybody : to}];
    one.messages += 1;
    one.bytes += bytes;
  }
  void forget() { sent_.clear(); }
  /// All that was sent since it was as `before` is sent so many times more.
  void repeat_since(const Ledger& before, double times) {
    for (auto& [key, one] : sent_) {
      const auto at = before.sent_.find(key);
      const auto was = at == before.sent_.end() ? Sent{} : at->second;
      one.messages += times * (one.messages - was.messages);
      one.bytes += times * (one.bytes - was.bytes);
    }
  }

  const std::map<std::pair<std::string, int>, Sent>& by_phase_and_receiver() const { return sent_; }
  /// Of a phase, or of all where it is empty.
  Sent total(const std::string& phase = {}) const {
    Sent sum;
    for (const auto& [key, one] : sent_) {
      if (!phase.empty() && key.first != phase) continue;
      sum.messages += one.messages;
      sum.bytes += one.bytes;
    }
    return sum;
  }

 private:
  std::map<std::pair<std::string, int>, Sent> sent_;
};

}  // namespace halobench::md

// SPDX-License-Identifier: BSD-3-Clause
#include "device/clock.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace halobench {

std::size_t DeviceClock::new_stream() {
  streams_.emplace_back();
  return streams_.size() - 1;
}

void DeviceClock::give(std::size_t stream, const Work& work) {
  streams_[stream].items.push_back({work, {}});
  ++streams_[stream].given;
}

void DeviceClock::wait(std::size_t stream, const Moment& moment) {
  streams_[stream].items.push_back({{}, moment});
  ++streams_[stream].given;
}

DeviceClock::Moment DeviceClock::moment(std::size_t stream) const {
  return {stream, streams_[stream].given};
}

double DeviceClock::passes_s(const Moment& moment) {
  while (!passed(moment)) advance();
  return now_s_;
}

bool DeviceClock::passed(const Moment& moment) const {
  return moment.works == 0 || streams_[moment.stream].done >= moment.works;
}

bool DeviceClock::retire(Stream& stream) {
  if (stream.items.empty()) return false;
  const auto& [left, awaited, begun_s] = stream.items.front();
  const bool done =
      awaited ? passed(*awaited) : left.given_s <= now_s_ && left.latency_s <= 0 && left.bytes <= 0;
  if (!done) return false;
  if (left.name != nullptr) {
    const auto number = static_cast<std::size_t>(&stream - streams_.data());
    done_.push_back({left.name, number, begun_s.value_or(now_s_), now_s_});
  }
  stream.items.pop_front();
  ++stream.done;
  return true;
}

/// Of each work under way whose bytes are moved by it.
double DeviceClock::rate(Way way) const {
  const auto moves = [&](const Stream& stream) {
    if (stream.items.empty() || stream.items.front().awaited) return false;
    const auto& left = stream.items.front().left;
    return left.way == way && left.given_s <= now_s_ && left.latency_s <= 0;
  };
  const auto sharing = static_cast<double>(std::ranges::count_if(streams_, moves));
  return (way == Way::memory ? rates_.memory_bytes_per_s : rates_.copy_bytes_per_s) / sharing;
}

/// Until it begins, or its latency is over, or it is done.
double DeviceClock::longest_step_s(const Work& left) const {
  if (left.given_s > now_s_) return left.given_s - now_s_;
  if (left.latency_s > 0) return left.latency_s;
  return left.bytes / rate(left.way);
}

/// To the next time at which anything begins or ends; or, where something is done already, by no
/// time at all.
void DeviceClock::advance() {
  bool retired = false;
  for (auto& stream : streams_) retired |= retire(stream);
  if (retired) return;
  struct Going {
    Work* left;
    double step_s;
    double bytes_per_s;
  };
  std::vector<Going> going;
  double step_s = std::numeric_limits<double>::infinity();
  for (auto& stream : streams_) {
    if (stream.items.empty() || stream.items.front().awaited) continue;
    auto& [left, awaited, begun_s] = stream.items.front();
    if (!begun_s) begun_s = std::max(now_s_, left.given_s);
    const bool moves = left.given_s <= now_s_ && left.latency_s <= 0;
    going.push_back({&left, longest_step_s(left), moves ? rate(left.way) : 0});
    step_s = std::min(step_s, going.back().step_s);
  }
  if (going.empty()) throw std::logic_error("deadlock: the device's streams wait for each other");
  const double before_s = now_s_;
  for (const auto& [left, own_s, bytes_per_s] : going) {
    const bool ends = own_s <= step_s;  // exactly, whatever rounding leaves
    if (left->given_s > before_s) {
      if (ends) now_s_ = left->given_s;
    } else if (left->latency_s > 0) {
      left->latency_s = ends ? 0 : left->latency_s - step_s;
    } else {
      left->bytes = ends ? 0 : left->bytes - bytes_per_s * step_s;
    }
  }
  now_s_ = std::max(now_s_, before_s + step_s);
}

}  // namespace halobench

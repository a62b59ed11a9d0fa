// SPDX-License-Identifier: BSD-3-Clause
#include "platform/shared_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace halobench {

namespace s4u = simgrid::s4u;

SharedMemory* SharedMemory::of(const s4u::Host* host) {
  return static_cast<SharedMemory*>(host->get_data<NodeMemory>());
}

double SharedMemory::compute(double seconds, double bytes, int cores) {
  const double end_s = s4u::Engine::get_clock() + seconds;
  if (!messages_under_way() && sleep_through(seconds)) return 0;
  const double left_s = end_s - s4u::Engine::get_clock();
  if (left_s <= 0) return 0;
  flow(left_s, bytes * left_s / seconds, cores);
  return std::max(0.0, s4u::Engine::get_clock() - end_s);
}

/// One that started a moment ago may not be a flow yet.
bool SharedMemory::messages_under_way() const {
  if (last_start_s_ < 0) return false;
  if (s4u::Engine::get_clock() <= last_start_s_ + setting_.longest_latency_s) return true;
  return messages_ > 0 && link_->is_used();
}

/// Whether no message woke the rank before its time.
bool SharedMemory::sleep_through(double seconds) {
  Sleeper self{s4u::Semaphore::create(0), true};
  sleepers_.push_back(&self);
  const bool through = self.woken->acquire_timeout(seconds);
  if (self.asleep) std::erase(sleepers_, &self);
  return through;
}

void SharedMemory::message_starts(bool across) {
  if (!messages_under_way()) within_ = across_ = 0;
  (across ? across_ : within_) += 1;
  last_start_s_ = s4u::Engine::get_clock();
  for (auto* sleeper : std::exchange(sleepers_, {})) {
    sleeper->asleep = false;
    sleeper->woken->release();
  }
}

/// As fast as the node model says, if the memory gives as much. The rank sends to itself by a
/// mailbox: Comm::sendto would pass over the rate. SMPI frees what a sender left behind.
void SharedMemory::flow(double seconds, double bytes, int cores) {
  const double sent = std::ceil(bytes / setting_.copied * scale);   // SimGrid's are whole ones
  if (!computes(sent)) return s4u::this_actor::sleep_for(seconds);  // a few lines of a cache
  if (sent > most_bytes) {                                          // one half after the other
    flow(seconds / 2, bytes / 2, cores);
    return flow(seconds / 2, bytes / 2, cores);
  }
  auto* own = s4u::Mailbox::by_name("computes-" + std::to_string(s4u::this_actor::get_pid()));
  own->put_init()
      ->set_rate(sent / seconds)
      ->set_payload_size(static_cast<std::uint64_t>(sent))
      ->set_src_data(std::malloc(1), 1)
      ->detach();
  char received = 0;
  void** into = reinterpret_cast<void**>(&received);
  auto flow = own->get_init()->set_dst_data(into, 1);
  computing_ranks_ += 1;
  computing_cores_ += cores;
  flow->wait();
  computing_ranks_ -= 1;
  computing_cores_ -= cores;
}

/// In bytes of messages, and no less than what a message by itself has.
double SharedMemory::given_bytes_per_s(int cores) {
  for (auto next = static_cast<int>(given_.size()); next <= cores; ++next) {
    given_.push_back(setting_.curve.at(next) / setting_.copied);
  }
  const bool halves = across_ > 0 && within_ == 0;
  const double least = halves ? setting_.alone_across_bytes_per_s : setting_.alone_bytes_per_s;
  return std::max(least, given_[static_cast<std::size_t>(cores)]);
}

/// Two for a message, one for half of one. SimGrid reports the number of flows, not which: they
/// are taken to be of both kinds as those were that started.
int SharedMemory::copying_cores() const {
  if (across_ == 0) return 2 * messages_;
  return static_cast<int>(std::lround(messages_ * (2 * within_ + across_) / (within_ + across_)));
}

/// The cores that copy messages, as long as there are so many ranks that do not compute: one that
/// has several messages under way is one core anyway. A message by itself has what the
/// cluster file says, and ranks that compute by themselves what the node model says.
double SharedMemory::capacity(int flows) {
  messages_ = flows - computing_ranks_;
  if (messages_ <= 0) return scale * setting_.alone_bytes_per_s;
  const int copying = std::min(copying_cores(), setting_.ranks);
  const int beside = std::min(copying_cores(), setting_.ranks - computing_ranks_);
  const int cores = std::max(copying, computing_cores_ + std::max(0, beside));
  return given_bytes_per_s(cores);
}

}  // namespace halobench

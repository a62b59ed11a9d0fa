// SPDX-License-Identifier: BSD-3-Clause
// The clock of a simulated device: when its streams have done what they were given.
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace halobench {

/// Streams that do what they are given, each in order; works that move bytes at the same time share
/// what moves them. Times are seconds of the host's clock, and grow from call to call: nothing is
/// given to a stream before a requested moment.
class DeviceClock {
 public:
  /// What moves a work's bytes: the device's memory, or the way to the host's or from there.
  enum class Way { memory, in, out };

  struct Rates {
    double memory_bytes_per_s;
    double copy_bytes_per_s;  ///< each way
  };

  /// From given_s on, and when all is done that its stream was given before.
  struct Work {
    double given_s = 0;
    double latency_s = 0;  ///< before its bytes move
    double bytes = 0;
    Way way = Way::memory;
    const char* name = nullptr;  ///< by which it is kept when it is done; null: it is not
  };

  /// A work that was done.
  struct Done {
    const char* name;
    std::size_t stream;
    double begin_s;  ///< of its latency
    double end_s;
  };

  /// When a stream has done so many works; by default one that has always passed.
  struct Moment {
    std::size_t stream = 0;
    std::size_t works = 0;
  };

  explicit DeviceClock(const Rates& rates) : rates_(rates) {}

  std::size_t new_stream();
  void give(std::size_t stream, const Work& work);
  /// What the stream is given from now on waits for that moment.
  void wait(std::size_t stream, const Moment& moment);

  /// When all is done that the stream was given until now.
  Moment moment(std::size_t stream) const;
  /// When it passes; one that has passed: some time since.
  double passes_s(const Moment& moment);

  /// The works with a name that were done since this was asked.
  std::vector<Done> take_done() { return std::exchange(done_, {}); }

 private:
  struct Item {
    Work left;  ///< what is still to be done
    std::optional<Moment> awaited;
    std::optional<double> begun_s = {};
  };
  struct Stream {
    std::deque<Item> items;
    std::size_t given = 0;
    std::size_t done = 0;
  };

  bool passed(const Moment& moment) const;
  /// Takes away what is done; whether there was any.
  bool retire(Stream& stream);
  double rate(Way way) const;
  double longest_step_s(const Work& left) const;
  void advance();

  Rates rates_;
  double now_s_ = 0;
  std::vector<Stream> streams_;
  std::vector<Done> done_;
};

}  // namespace halobench

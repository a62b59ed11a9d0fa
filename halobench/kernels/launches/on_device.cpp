// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/launches/on_device.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "base/as_size.hpp"

namespace halobench {
namespace {

constexpr std::int64_t item = sizeof(std::uint64_t);

/// A device kernel by its number: another order of two gives another value.
struct Changed {
  std::uint64_t* values;
  std::uint64_t number;

  HALOBENCH_ANYWHERE void operator()(std::int64_t i) const { values[i] = 3 * values[i] + number; }
};

/// What many of them make of a value: factor times it, and something more.
struct Together {
  std::uint64_t factor = 1;
  std::uint64_t more = 0;

  void then(std::int64_t number) {
    factor *= 3;
    more = 3 * more + static_cast<std::uint64_t>(number);
  }
  std::uint64_t of(std::uint64_t value) const { return factor * value + more; }
};

std::uint64_t start(std::int64_t round, std::int64_t i) {
  return static_cast<std::uint64_t>(7 * round + i);
}

class ChainOfKernels : public Chain {
 public:
  ChainOfKernels(Device& device, Meter& meter, Memory& memory, const Setting& setting);

  void set(std::int64_t round) override;
  void run(bool waits_first) override { run(waits_first, nullptr); }
  bool is_right(std::int64_t runs, bool waits_first) override;
  double bytes() const override;

 private:
  /// What the host finds of the array's first value when each wait is over.
  struct Seen {
    std::uint64_t after_first = 0;
    std::uint64_t after_all = 0;
  };

  /// `seen`, which costs copies, where it is requested.
  void run(bool waits_first, Seen* seen);
  void launch(std::int64_t number);
  void wait();
  void show(std::int64_t place, bool copied);
  std::int64_t all_values() const { return setting_.first * setting_.values; }

  Device& device_;
  Meter& meter_;
  Setting setting_;
  std::vector<std::string> names_;  ///< of the device kernels
  Stream stream_;
  Buffer<std::uint64_t> host_;
  Buffer<std::byte> array_;
  Buffer<std::byte> shown_;  ///< the first value, after the first device kernel and after the last
  std::int64_t round_ = 0;
};

ChainOfKernels::ChainOfKernels(Device& device, Meter& meter, Memory& memory, const Setting& setting)
    : device_(device),
      meter_(meter),
      setting_(setting),
      stream_(device.new_stream()),
      host_(memory.allocate<std::uint64_t>(all_values())),
      array_(device.allocate(all_values() * item)),
      shown_(device.allocate_on_host(2 * item)) {
  memory.count(all_values() * item);
  for (std::int64_t number = 1; number <= setting_.kernels; ++number) {
    names_.push_back("kernel " + std::to_string(number));
  }
}

void ChainOfKernels::set(std::int64_t round) {
  round_ = round;
  for (std::int64_t i = 0; i < all_values(); ++i) host_[as_size(i)] = start(round, i);
  device_.upload(stream_, host_.data(), array_.data(), all_values() * item);
  device_.synchronise(stream_);
}

void ChainOfKernels::run(bool waits_first, Seen* seen) {
  auto* shown = static_cast<std::uint64_t*>(static_cast<void*>(shown_.data()));
  launch(1);
  show(0, seen != nullptr);
  if (waits_first) wait();
  if (seen != nullptr) seen->after_first = shown[0];
  for (std::int64_t number = 2; number <= setting_.kernels; ++number) launch(number);
  show(1, seen != nullptr);
  wait();
  if (seen != nullptr) seen->after_all = shown[1];
}

bool ChainOfKernels::is_right(std::int64_t runs, bool waits_first) {
  Together beginning, rest, once, first;
  first.then(1);
  for (std::int64_t number = 1; number <= setting_.kernels; ++number) once.then(number);
  for (std::int64_t i = 0; i < runs; ++i) {
    for (std::int64_t number = 1; number <= setting_.kernels; ++number) beginning.then(number);
    rest.then(1);
  }
  device_.download(stream_, array_.data(), host_.data(), all_values() * item);
  bool good = true;
  for (std::int64_t i = 0; i < all_values(); ++i) {
    const auto& made = i < setting_.values ? beginning : rest;
    good &= host_[as_size(i)] == made.of(start(round_, i));
  }
  set(round_);
  std::memset(shown_.data(), 0xff, shown_.size());
  Seen seen;
  run(waits_first, &seen);
  if (waits_first) good &= seen.after_first == first.of(start(round_, 0));
  return good && seen.after_all == once.of(start(round_, 0));
}

void ChainOfKernels::wait() {
  meter_.part("synchronise", [&] { device_.synchronise(stream_); });
}

/// One of the two places; of what the stream was given until now.
void ChainOfKernels::show(std::int64_t place, bool copied) {
  if (copied) device_.copy_out(stream_, array_.data(), shown_.data() + place * item, item);
}

void ChainOfKernels::launch(std::int64_t number) {
  const auto count = number == 1 ? all_values() : setting_.values;
  const auto moved = static_cast<double>(2 * item * count);
  auto* values = static_cast<std::uint64_t*>(device_.reach(static_cast<void*>(array_.data())));
  meter_.part(names_[as_size(number - 1)].c_str(), [&] {
    launch_over(device_, stream_, count, {moved, 0, moved, moved / 2},
                Changed{values, static_cast<std::uint64_t>(number)});
  });
}

double ChainOfKernels::bytes() const {
  return static_cast<double>(2 * item * (setting_.first + setting_.kernels - 1) * setting_.values);
}

}  // namespace

std::unique_ptr<Chain> make_chain(Device& device, Meter& meter, Memory& memory,
                                  const Chain::Setting& setting) {
  return std::make_unique<ChainOfKernels>(device, meter, memory, setting);
}

}  // namespace halobench

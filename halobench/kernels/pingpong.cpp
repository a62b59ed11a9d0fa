// Half the round trip of a message between ranks 0 and 1, by size: MPI_Send and MPI_Recv, as
// PingPong of the Intel MPI Benchmarks. All other ranks wait.
#include <algorithm>
#include <limits>

#include "kernel.hpp"

namespace halobench {
namespace {

constexpr int tag = 1;

class PingPong : public Instance {
 public:
  explicit PingPong(const Context& context)
      : comm_(context.comm),
        executes_(context.meter.executes()),
        plays_(context.comm.rank() < 2),
        sizes_(context.params.sizes("sizes")) {
    const auto largest = plays_ ? std::ranges::max(sizes_) : 0;
    sent_ = context.memory.allocate<unsigned char>(largest);
    received_ = context.memory.allocate<unsigned char>(largest);
    select(0);
  }

  std::size_t points() const override { return sizes_.size(); }

  void select(std::size_t point) override { size_ = message_count(sizes_[point]); }

  /// New contents every time: a message that was left over from before is not taken for a new one.
  void prepare() override {
    ++round_;
    if (!plays_ || !executes_) return;
    for (int i = 0; i < size_; ++i) {
      sent_[static_cast<std::size_t>(i)] = pattern(comm_.rank(), i);
      received_[static_cast<std::size_t>(i)] =
          static_cast<unsigned char>(~pattern(1 - comm_.rank(), i));
    }
  }

  void step() override {
    if (comm_.rank() == 0) {
      send(1);
      receive(1);
    } else if (comm_.rank() == 1) {
      receive(0);
      send(0);
    }
  }

  Verdict verify() override {
    bool good = true;
    for (int i = 0; plays_ && executes_ && i < size_; ++i) {
      good &= received_[static_cast<std::size_t>(i)] == pattern(1 - comm_.rank(), i);
    }
    if (comm_.all(good)) return {};
    return {"a message of " + std::to_string(size_) + " bytes arrived changed"};
  }

  /// Each player sends one message a round trip.
  Work work() const override { return plays_ ? Work{static_cast<double>(size_), 0, 1} : Work{}; }

  Json point(std::size_t point, const Times& times) override {
    const auto size = static_cast<double>(sizes_[point]);
    const double latency_s = half_round_trip_s(times);
    return Json::object()
        .set("size_bytes", sizes_[point])
        .set("operation", Json())
        .set("result", Json::object()
                           .set("latency_s", latency_s)
                           .set("bandwidth_bytes_per_s", size / latency_s));
  }

  Json result(std::span<const Times> times) override {
    const auto smallest = std::ranges::min_element(sizes_) - sizes_.begin();
    double best = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      best = std::max(best, static_cast<double>(sizes_[i]) / half_round_trip_s(times[i]));
    }
    return Json::object()
        .set("latency_s", half_round_trip_s(times[static_cast<std::size_t>(smallest)]))
        .set("bandwidth_bytes_per_s", best);
  }

 private:
  static double half_round_trip_s(const Times& times) { return 0.5 * times.median(); }

  /// Byte `i` of what `sender` sends this time.
  unsigned char pattern(int sender, int i) const {
    return static_cast<unsigned char>(i * 7 + (i >> 8) + size_ + 31 * sender + round_);
  }

  void send(int to) const {
    check(MPI_Send(sent_.data(), size_, MPI_BYTE, to, tag, comm_.handle()), "MPI_Send");
  }

  void receive(int from) const {
    check(MPI_Recv(received_.data(), size_, MPI_BYTE, from, tag, comm_.handle(), MPI_STATUS_IGNORE),
          "MPI_Recv");
  }

  const Communicator& comm_;
  bool executes_;
  bool plays_;  ///< ranks 0 and 1
  std::vector<std::int64_t> sizes_;
  Buffer<unsigned char> sent_;
  Buffer<unsigned char> received_;
  int size_ = 0;
  int round_ = 0;
};

Plan plan_pingpong(const Params& params, const Shape& shape) {
  Plan plan;
  if (shape.ranks < 2) {
    plan.problems.push_back({"ranks", std::to_string(shape.ranks), "needs at least 2 ranks"});
  }
  plan.memory_bytes = 4.0 * static_cast<double>(std::ranges::max(params.sizes("sizes")));
  return plan;
}

}  // namespace

Kernel pingpong() {
  using enum Parameter::Type;
  Kernel kernel;
  kernel.name = "pingpong";
  kernel.summary = "Half round trip of a message between ranks 0 and 1, by size";
  kernel.paper = "Intel MPI Benchmarks, PingPong";
  kernel.parameters = {{"sizes", sizes, "0:4M", "message sizes", "B", 0,
                        static_cast<double>(std::numeric_limits<int>::max())}};
  kernel.repetitions = "20";
  kernel.warmup = "2";
  kernel.sweeps = true;
  kernel.batched = true;
  kernel.plan = plan_pingpong;
  kernel.setup = [](const Context& context) { return std::make_unique<PingPong>(context); };
  return kernel;
}

}  // namespace halobench

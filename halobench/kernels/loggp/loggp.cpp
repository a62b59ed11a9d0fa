// SPDX-License-Identifier: BSD-3-Clause
// The five measurements that LogGP's parameters follow from, by message size, between rank 0 (the
// client) and rank 1 (the server); others wait. Hoefler, Lichei and Rehm, Low-Overhead LogGP
// Parameter Assessment (IPDPS 2007); the receiver's overhead as in Kielmann, Bal and Verstoep
// (IPDPS 2000 workshops). A message of s bytes takes o_s + L + (s - 1) G + o_r, and the next may
// follow after g + (s - 1) G.
#include <algorithm>
#include <array>
#include <limits>

#include "base/as_size.hpp"
#include "base/simulation.hpp"
#include "kernel.hpp"
#include "mpi/pattern.hpp"

namespace halobench {
namespace {

constexpr int client = 0;
constexpr int server = 1;
constexpr int tag = 3;

/// Lets `seconds` pass with no MPI call; how many did.
double pause(double seconds) {
  const double start = MPI_Wtime();
  if (simulated()) {
    pass_time(seconds);
  } else {
    while (MPI_Wtime() - start < seconds) {
    }
  }
  return MPI_Wtime() - start;
}

/// What one step measures, each a name in the record's points, in seconds.
struct Sample {
  double round_trip_s = 0;
  double burst_s = 0;
  double delayed_s = 0;
  double delay_s = 0;
  double receive_s = 0;
  double send_s = 0;
  double wait_s = 0;
};

struct Measured {
  const char* name;
  double Sample::* member;
  const char* meaning;
};

constexpr std::array<Measured, 7> measured{{
    {"round_trip_s", &Sample::round_trip_s, "time for a message and its reply"},
    {"burst_s", &Sample::burst_s, "time for a burst of messages and its reply"},
    {"delayed_s", &Sample::delayed_s,
     "time for a burst of messages and its reply, with a pause before each message except the "
     "first"},
    {"delay_s", &Sample::delay_s, "mean pause in delayed_s"},
    {"receive_s", &Sample::receive_s, "time to receive a message that has already arrived"},
    {"send_s", &Sample::send_s,
     "time to send a message to a late receiver; with the rendezvous protocol, this includes the "
     "wait for the receiver"},
    {"wait_s", &Sample::wait_s,
     "time that the receiver waits in MPI for the message timed in send_s"},
}};

/// The parameters of a case.
struct Settings {
  std::vector<std::int64_t> sizes;
  std::int64_t burst;  ///< messages
};

Settings parse_settings(const Params& params) {
  return {params.sizes("sizes"), params.integer("burst")};
}

class LogGP : public Instance {
 public:
  explicit LogGP(const Context& context)
      : comm_(context.comm),
        executes_(context.meter.executes()),
        settings_(parse_settings(context.params)),
        samples_(settings_.sizes.size()) {
    const auto largest = plays() ? std::ranges::max(settings_.sizes) : 0;
    sent_ = context.memory.allocate<unsigned char>(largest, Pages::ordinary);
    received_ = context.memory.allocate<unsigned char>(largest, Pages::ordinary);
    select(0);
  }

  std::size_t points() const override { return settings_.sizes.size(); }

  void select(std::size_t point) override {
    point_ = point;
    size_ = message_count(settings_.sizes[point]);
  }

  void prepare() override {
    ++round_;
    if (!executes_ || !plays()) return;
    write_pattern(own(sent_), seed(comm_.rank()));
    write_opposite(own(received_), seed(1 - comm_.rank()));
  }

  void step() override {
    if (comm_.rank() == client) ask();
    if (comm_.rank() == server) serve();
  }

  /// The last message of either side is checked, and the step's times are kept: the protocol asks
  /// once a repetition, after its last step.
  Verdict verify() override {
    samples_[point_].push_back(sample_);
    const bool good = !executes_ || !plays() || has_pattern(own(received_), seed(1 - comm_.rank()));
    if (comm_.all(good)) return {};
    return {"a message of " + std::to_string(size_) + " bytes arrived changed"};
  }

  Work work() const override {
    if (!plays()) return {};
    const double messages =
        comm_.rank() == client ? 3.0 + 2.0 * static_cast<double>(settings_.burst) : 3.0;
    return {messages * size_, 0, messages};
  }

  Json point(std::size_t point, const Times&) override {
    Json result = Json::object();
    for (const auto& [name, member, _] : measured) result.set(name, median(point, member));
    return Json::object()
        .set("size_bytes", settings_.sizes[point])
        .set("operation", Json())
        .set("result", std::move(result));
  }

  Json result(std::span<const Times>) override {
    return Json::object()
        .set("burst", settings_.burst)
        .set("round_trip_s", median(0, &Sample::round_trip_s));
  }

 private:
  bool plays() const { return comm_.rank() <= server; }

  std::span<unsigned char> own(const Buffer<unsigned char>& buffer) const {
    return buffer.span().first(as_size(size_));
  }

  std::uint64_t seed(int sender) const { return pattern_seed({round_, size_, sender}); }

  void send() {
    check(MPI_Send(sent_.data(), size_, MPI_BYTE, 1 - comm_.rank(), tag, comm_.handle()),
          "MPI_Send");
  }

  void receive() {
    check(MPI_Recv(received_.data(), size_, MPI_BYTE, 1 - comm_.rank(), tag, comm_.handle(),
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
  }

  void ask() {
    double start = MPI_Wtime();
    send();
    receive();
    sample_.round_trip_s = MPI_Wtime() - start;

    start = MPI_Wtime();
    for (std::int64_t i = 0; i < settings_.burst; ++i) send();
    receive();
    sample_.burst_s = MPI_Wtime() - start;

    double paused = 0;
    start = MPI_Wtime();
    send();
    for (std::int64_t i = 1; i < settings_.burst; ++i) {
      paused += pause(sample_.round_trip_s);
      send();
    }
    receive();
    sample_.delayed_s = MPI_Wtime() - start;
    sample_.delay_s = paused / static_cast<double>(settings_.burst - 1);

    send();
    start = MPI_Wtime();
    send();
    sample_.send_s = MPI_Wtime() - start;
  }

  void serve() {
    receive();
    send();
    for (std::int64_t i = 0; i < settings_.burst; ++i) receive();
    send();
    receive();
    const double start = MPI_Wtime();
    for (std::int64_t i = 1; i < settings_.burst; ++i) receive();
    send();
    const double round_trips = MPI_Wtime() - start;
    pause(round_trips);  // as long as burst - 1 round trips: the last message is there
    const double arrived = MPI_Wtime();
    receive();
    sample_.receive_s = MPI_Wtime() - arrived;
    sample_.wait_s = progress(round_trips);
    receive();
  }

  /// Lets `seconds` pass inside MPI, where the library can take in what arrives; how many did.
  double progress(double seconds) const {
    if (simulated()) return pause(seconds);
    const double start = MPI_Wtime();
    int there = 0;
    while (MPI_Wtime() - start < seconds) {
      check(MPI_Iprobe(MPI_ANY_SOURCE, tag + 1, comm_.handle(), &there, MPI_STATUS_IGNORE),
            "MPI_Iprobe");
    }
    return MPI_Wtime() - start;
  }

  /// Over the launch's repetitions. Collective: only the server has the times of receiving and of
  /// waiting.
  double median(std::size_t point, double Sample::* member) const {
    Times times;
    for (const auto& sample : samples_[point]) times.seconds.push_back(sample.*member);
    const bool served = member == &Sample::receive_s || member == &Sample::wait_s;
    const bool here = comm_.rank() == (served ? server : client);
    return comm_.sum(here ? times.median() : 0.0);
  }

  const Communicator& comm_;
  bool executes_;
  const Settings settings_;
  std::vector<std::vector<Sample>> samples_;  ///< of every point, one a repetition
  Sample sample_;
  Buffer<unsigned char> sent_;
  Buffer<unsigned char> received_;
  std::size_t point_ = 0;
  int size_ = 0;
  std::int64_t round_ = 0;
};

Plan plan_loggp(const Params& params, const Shape& /*shape*/) {
  Plan plan;
  plan.memory_bytes = 4.0 * static_cast<double>(std::ranges::max(parse_settings(params).sizes));
  return plan;
}

std::vector<Parameter> parameters() {
  using enum Parameter::Type;
  return {
      {"sizes", sizes, "1:64K", "message sizes", "B", 1,
       static_cast<double>(std::numeric_limits<int>::max())},
      {"burst", integer, "16", "number of messages per burst", "", 2, 4096},
  };
}

}  // namespace

Kernel loggp() {
  using enum Result::Type;
  Kernel kernel;
  kernel.name = "loggp";
  kernel.summary = "Overheads, gaps, and latency for the LogGP model, by message size";
  kernel.paper = "Hoefler, Lichei and Rehm, IPDPS 2007";
  kernel.parameters = parameters();
  kernel.results = {{"burst", integer, "number of messages per burst"},
                    {"round_trip_s", real, "round-trip time at the first size", "s"}};
  for (const auto& one : measured) {
    kernel.point_results.push_back({one.name, real, one.meaning, "s"});
  }
  kernel.repetitions = "100";
  kernel.warmup = "1";
  kernel.sweeps = true;
  kernel.least_ranks = 2;
  kernel.small = {{"sizes=1,64,64K", "burst=4", "repetitions=3"}};
  kernel.plan = plan_loggp;
  kernel.setup = [](const Context& context) { return std::make_unique<LogGP>(context); };
  return kernel;
}

}  // namespace halobench

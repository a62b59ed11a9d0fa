// SPDX-License-Identifier: BSD-3-Clause
// Messages between pairs of ranks, by size: ping-pong as the Intel MPI Benchmarks and the OSU
// Micro-Benchmarks time it, and streams of messages in one direction or both. Ranks without a
// partner wait.
#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/as_size.hpp"
#include "device/message_buffer.hpp"
#include "device/message_place.hpp"
#include "kernel.hpp"
#include "kernels/pingpong/setting.hpp"
#include "mpi/pattern.hpp"
#include "mpi/slots.hpp"

namespace halobench {
namespace {

constexpr int tag = 1;
constexpr std::int64_t checked_bytes = std::int64_t{8} << 20;  ///< a repetition, one by one

class PingPong : public Instance {
 public:
  PingPong(const Context& context, PingPongSetting setting)
      : comm_(context.comm),
        executes_(context.meter.executes()),
        setting_(std::move(setting)),
        checked_(setting_.sizes.size()) {
    for (const auto& pair : setting_.pairs) {
      if (pair.first == comm_.rank()) partner_ = pair.second;
      if (pair.second == comm_.rank()) partner_ = pair.first;
      leads_ |= pair.first == comm_.rank();
    }
    const bool plays = partner_ != MPI_PROC_NULL;
    sends_ = plays && (setting_.both_ways() || leads_);
    receives_ = plays && (setting_.both_ways() || !leads_);
    const auto bytes = [&](bool needed, auto slots) {
      return needed ? setting_.buffer_bytes(slots) : 0;
    };
    // Messages of a program lie where malloc puts them. Huge pages, which only large buffers get,
    // would make two of the same size differ.
    sent_memory_ = context.memory.allocate<unsigned char>(
        bytes(sends_, &PingPongSetting::sent_slots), Pages::ordinary);
    received_memory_ = context.memory.allocate<unsigned char>(
        bytes(receives_, &PingPongSetting::received_slots), Pages::ordinary);
    device_ = chosen_device(context, setting_.memory);
    if (device_) {
      std::tie(sent_on_device_, received_on_device_) = buffers_on_device(
          *device_, context.memory, sent_memory_, received_memory_, setting_.memory.staged());
    }
    select(0);
  }

  std::size_t points() const override { return setting_.sizes.size(); }

  void select(std::size_t point) override {
    point_ = point;
    size_ = message_count(setting_.sizes[point]);
    messages_ = as_size(setting_.messages(size_));
    if (sends_) sent_ = Slots(sent_memory_.data(), size_, setting_.sent_slots(size_));
    if (receives_)
      received_ = Slots(received_memory_.data(), size_, setting_.received_slots(size_));
    requests_.assign(2 * messages_, MPI_REQUEST_NULL);
    statuses_.resize(2 * messages_);
  }

  /// Where messages rotate, what was just written is in the caches until the other places have been
  /// touched, too.
  void prepare_for(std::int64_t steps) override {
    const auto used = steps * setting_.messages(size_);
    write_contents(used);
    if (!executes_ || setting_.rotate_bytes == 0 || device_) return;
    for (const auto* slots : {&sent_, &received_}) touch_others(*slots, used);
  }

  void step() override {
    if (partner_ == MPI_PROC_NULL) return;
    if (setting_.streams()) {
      stream();
    } else if (leads_) {
      send();
      receive();
    } else {
      receive();
      send();
    }
  }

  std::int64_t usual_steps() const override {
    if (setting_.mode == PingPongMode::imb) {
      return std::clamp<std::int64_t>((40 << 20) / std::max(1, size_), 1, 1000);
    }
    if (setting_.mode == PingPongMode::osu) return size_ <= 8192 ? 10000 : 1000;
    return 0;
  }

  /// The timed messages: what each place holds after its last one, and how the last step's came.
  /// Where they shared places, as many more follow one by one, through the same places and calls:
  /// each has contents of its own, and its bytes, length, sender and tag are looked at.
  Verdict verify() override {
    if (partner_ != MPI_PROC_NULL) {
      const auto timed = std::max(sent_.used(), received_.used());
      const bool shared = timed > setting_.received_slots(size_);
      look();
      checked_[point_] += shared || !receives_ ? 0 : timed;
      if (shared) check_singly(timed / setting_.messages(size_));
    }
    const bool contents = comm_.all(contents_good_);
    const bool envelopes = comm_.all(envelopes_good_);
    const auto message = "a message of " + std::to_string(size_) + " bytes arrived ";
    if (!envelopes) return {message + "with a wrong length, sender, or tag"};
    return {contents ? "" : message + "changed"};
  }

  Work work() const override {
    if (!sends_) return {};
    const auto messages = static_cast<double>(messages_);
    return {messages * size_, 0, messages};
  }

  std::string device() const override { return device_ ? device_->name() : ""; }

  Json point(std::size_t point, const Times& times) override {
    const auto rate = rates(point, times);
    return Json::object()
        .set("size_bytes", setting_.sizes[point])
        .set("operation", Json())
        .set("messages", setting_.messages(setting_.sizes[point]))
        .set("checked_messages", comm_.sum(checked_[point]))
        .set("result", Json::object()
                           .set("latency_s", latency_s(times))
                           .set("bandwidth_bytes_per_s", rate.bytes_per_s)
                           .set("messages_per_s", rate.messages_per_s));
  }

  Json result(std::span<const Times> times) override {
    const auto smallest = std::ranges::min_element(setting_.sizes) - setting_.sizes.begin();
    Rates best;
    for (std::size_t i = 0; i < setting_.sizes.size(); ++i) {
      const auto rate = rates(i, times[i]);
      best.bytes_per_s = std::max(best.bytes_per_s, rate.bytes_per_s);
      best.messages_per_s = std::max(best.messages_per_s, rate.messages_per_s);
    }
    return Json::object()
        .set("latency_s", latency_s(times[as_size(smallest)]))
        .set("bandwidth_bytes_per_s", best.bytes_per_s)
        .set("messages_per_s", best.messages_per_s);
  }

 private:
  struct Rates {
    double bytes_per_s = 0;
    double messages_per_s = 0;
  };

  /// Half the round trip; streams have no latency.
  Json latency_s(const Times& times) const {
    return setting_.streams() ? Json() : Json(0.5 * times.median());
  }

  /// All that arrives, over all pairs, in both directions.
  Rates rates(std::size_t point, const Times& times) const {
    const auto messages =
        static_cast<double>(setting_.messages(setting_.sizes[point]) * std::ssize(setting_.pairs)) *
        (setting_.both_ways() ? 2.0 : 1.0) / times.median();
    return {messages * static_cast<double>(setting_.sizes[point]), messages};
  }

  /// New contents in the next `slots` places: a message that was left over from before is not taken
  /// for a new one. Places are written in the order of their use, so that rotation begins with
  /// those that were written first.
  void write_contents(std::int64_t slots) {
    ++round_;
    sent_.restart();
    received_.restart();
    if (!executes_) return;
    sent_.for_first(
        slots, [&](std::int64_t slot) { write_pattern(sent_[slot], seed(comm_.rank(), slot)); });
    received_.for_first(slots, [&](std::int64_t slot) {
      write_opposite(received_[slot], seed(partner_, slot % setting_.sent_slots(size_)));
    });
    if (!device_) return;
    sent_on_device_->upload();
    received_on_device_->upload();
  }

  /// One byte of every cache line of all places but the first `used` ones.
  static void touch_others(const Slots& slots, std::int64_t used) {
    slots.for_others(used, [&](std::int64_t slot) {
      const auto place = slots[slot];
      for (std::size_t i = 0; i < place.size(); i += Slots::line_bytes) place[i] = 0;
    });
  }

  /// Checks what the steps since the contents were written have received.
  void look() {
    if (!receives_) return;
    for (std::size_t i = 0; i < messages_; ++i) {
      int bytes = 0;
      check(MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes), "MPI_Get_count");
      envelopes_good_ &=
          bytes == size_ && statuses_[i].MPI_SOURCE == partner_ && statuses_[i].MPI_TAG == tag;
    }
    if (!executes_) return;
    if (device_) received_on_device_->download();
    received_.for_first(received_.used(), [&](std::int64_t slot) {
      contents_good_ &=
          has_pattern(received_[slot], seed(partner_, slot % setting_.sent_slots(size_)));
    });
  }

  /// As many steps as were timed, or 8 MiB of messages.
  void check_singly(std::int64_t timed_steps) {
    const auto bytes = setting_.messages(size_) * std::max(1, size_);
    const auto steps = std::min(timed_steps, std::max<std::int64_t>(1, checked_bytes / bytes));
    for (std::int64_t i = 0; i < steps; ++i) {
      write_contents(setting_.messages(size_));
      step();
      look();
      checked_[point_] += receives_ ? setting_.messages(size_) : 0;
    }
  }

  std::uint64_t seed(int sender, std::int64_t slot) const {
    return pattern_seed({round_, size_, sender, slot});
  }

  /// What MPI is given for a place of the host's buffers.
  const void* outgoing(const unsigned char* place) {
    return device_ ? sent_on_device_->outgoing(place, size_) : place;
  }
  void* incoming(unsigned char* place) {
    return device_ ? received_on_device_->incoming(place) : place;
  }

  void send() {
    const auto* message = outgoing(sent_.next());
    const MessagePlace lies(message);
    check(MPI_Send(message, size_, MPI_BYTE, partner_, tag, comm_.handle()), "MPI_Send");
  }

  void receive() {
    auto* place = received_.next();
    auto* message = incoming(place);
    {
      const MessagePlace lies(message);
      check(MPI_Recv(message, size_, MPI_BYTE, partner_, tag, comm_.handle(), statuses_.data()),
            "MPI_Recv");
    }
    if (device_) received_on_device_->arrived(place, size_);
  }

  /// A window of messages; where they go one way, an empty one tells the sender that all arrived.
  void stream() {
    std::size_t started = 0;
    auto places = received_;  // the same ones again, when all have arrived
    for (std::size_t i = 0; receives_ && i < messages_; ++i) {
      check(MPI_Irecv(incoming(received_.next()), size_, MPI_BYTE, partner_, tag, comm_.handle(),
                      &requests_[started++]),
            "MPI_Irecv");
    }
    for (std::size_t i = 0; sends_ && i < messages_; ++i) {
      const auto* message = outgoing(sent_.next());
      const MessagePlace lies(message);
      check(
          MPI_Isend(message, size_, MPI_BYTE, partner_, tag, comm_.handle(), &requests_[started++]),
          "MPI_Isend");
    }
    {
      const MessagePlace lie(receives_ ? incoming(received_memory_.data()) : nullptr);
      check(MPI_Waitall(static_cast<int>(started), requests_.data(), statuses_.data()),
            "MPI_Waitall");
    }
    for (std::size_t i = 0; device_ && receives_ && i < messages_; ++i) {
      received_on_device_->arrived(places.next(), size_);
    }
    if (setting_.both_ways()) return;
    if (leads_) {
      check(MPI_Recv(nullptr, 0, MPI_BYTE, partner_, tag, comm_.handle(), MPI_STATUS_IGNORE),
            "MPI_Recv");
    } else {
      check(MPI_Send(nullptr, 0, MPI_BYTE, partner_, tag, comm_.handle()), "MPI_Send");
    }
  }

  const Communicator& comm_;
  bool executes_;
  const PingPongSetting setting_;
  int partner_ = MPI_PROC_NULL;
  bool leads_ = false;
  bool sends_ = false;
  bool receives_ = false;
  Buffer<unsigned char> sent_memory_;
  Buffer<unsigned char> received_memory_;
  std::unique_ptr<Device> device_;  ///< none where messages are in the host's memory
  std::unique_ptr<BufferOnDevice> sent_on_device_;
  std::unique_ptr<BufferOnDevice> received_on_device_;
  Slots sent_;
  Slots received_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;   ///< of the last step; of what is received first
  std::vector<std::int64_t> checked_;  ///< messages that were looked at one by one, for each point
  bool contents_good_ = true;
  bool envelopes_good_ = true;
  std::size_t point_ = 0;
  std::size_t messages_ = 1;
  int size_ = 0;
  std::int64_t round_ = 0;
};

}  // namespace

Kernel pingpong() {
  using enum Result::Type;
  Kernel kernel;
  kernel.name = "pingpong";
  kernel.summary = "Latency, bandwidth, and message rate between pairs of ranks, by message size";
  kernel.paper = "Intel MPI Benchmarks, PingPong; OSU Micro-Benchmarks, latency, bw, bibw, mbw_mr";
  kernel.parameters = pingpong_parameters();
  const std::string streams = "null for streams";
  const std::string timeless = "null if simulated messages take no time";
  kernel.results = {{"latency_s", real, "one-way latency at the smallest size", "s", streams},
                    {"bandwidth_bytes_per_s", real,
                     "highest total bandwidth of all pairs at any size", "B/s", timeless},
                    {"messages_per_s", real, "highest total message rate of all pairs at any size",
                     "1/s", timeless}};
  kernel.point_results = {
      {"latency_s", real, "one-way latency, median over repetitions", "s", streams},
      {"bandwidth_bytes_per_s", real, "total bandwidth of all pairs", "B/s", timeless},
      {"messages_per_s", real, "total message rate of all pairs", "1/s", timeless}};
  kernel.repetitions = "20";
  kernel.warmup = "2";
  kernel.sweeps = true;
  kernel.batched = true;
  kernel.least_ranks = 2;
  kernel.small.clear();
  for (const std::string mode : {"imb", "osu", "stream", "bistream"}) {
    const CaseArguments small{"mode=" + mode, "sizes=0,1,64K", "repetitions=2", "warmup=0"};
    for (const std::string cache : {"warm", "off"}) {
      auto one = small;
      one.insert(one.end(), {"steps=20", "cache=" + cache, "memory=host", "mpi=gpu_aware",
                             "device_lag=none", "gpus_shared=1"});
      kernel.small.push_back(one);
    }
    for (const std::string mpi : {"gpu_aware", "staged"}) {
      auto one = small;
      one.insert(one.end(), {"steps=3", "cache=warm", "window=4", "memory=device", "mpi=" + mpi,
                             "device_lag=until_waited", "gpus_shared=1"});
      kernel.small.push_back(one);
    }
  }
  kernel.plan = plan_pingpong;
  kernel.setup = [](const Context& context) {
    std::vector<Problem> none;  // the plan has already refused bad pairs
    return std::make_unique<PingPong>(context,
                                      parse_pingpong(context.params, context.comm.size(), none));
  };
  return kernel;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// Collective operations by message size, blocking or not, each result checked. How ranks start
// together, and so what the times mean, is the protocol's `synchronisation`: round_time unless
// another is requested.
#include <tuple>

#include "base/as_size.hpp"
#include "device/message_buffer.hpp"
#include "device/message_place.hpp"
#include "kernel.hpp"
#include "kernels/collectives/settings.hpp"
#include "mpi/pattern.hpp"
#include "mpi/shared_clock.hpp"

namespace halobench {
namespace {

using namespace collective;

constexpr double lateness_s = 5e-5;  ///< of the last rank at a barrier that is checked
class Collectives : public Instance {
 public:
  explicit Collectives(const Context& context)
      : comm_(context.comm),
        executes_(context.meter.executes()),
        settings_(parse_settings(context.params)),
        clock_(comm_) {
    in_ = context.memory.allocate<unsigned char>(settings_.largest(&Operation::in, comm_.size()),
                                                 Pages::ordinary);
    out_ = context.memory.allocate<unsigned char>(settings_.largest(&Operation::out, comm_.size()),
                                                  Pages::ordinary);
    device_ = chosen_device(context, settings_.memory);
    if (device_) {
      std::tie(in_on_device_, out_on_device_) =
          buffers_on_device(*device_, context.memory, in_, out_, settings_.memory.staged());
    }
    select(0);
  }

  std::size_t points() const override { return settings_.points.size(); }

  void select(std::size_t point) override {
    operation_ = settings_.points[point].operation;
    arguments_ = {in_.data(), out_.data(), message_count(settings_.points[point].size),
                  comm_.size(), comm_.handle()};
  }

  void prepare() override {
    ++round_;
    if (!executes_) return;
    write_contents();
    if (!device_) return;
    in_on_device_->upload();
    out_on_device_->upload();
  }

  void step() override {
    if (device_) give_device_memory();
    call();
    const auto bytes = bytes_of(operation_->out);
    if (device_ && gets_result() && bytes > 0) out_on_device_->arrived(out_.data(), bytes);
  }

  Verdict verify() override {
    const bool good = operation_->outcome == Outcome::nothing ? holds_back() : has_result();
    if (comm_.all(good)) return {};
    return {std::string(operation_->name) + ": wrong result at " +
            std::to_string(arguments_.bytes) + " bytes"};
  }

  /// What has to travel, however clever the algorithm; how many messages that takes is the
  /// library's choice.
  Work work() const override {
    const double ranks = comm_.size();
    const double others_share = (ranks - 1) / ranks * arguments_.bytes;
    if (operation_->outcome == Outcome::sum_on_all) {
      return {2 * others_share, others_share / item, 0};
    }
    if (operation_->out == Blocks::each && !ends_on_root(*operation_)) {
      return {ranks * others_share, 0, 0};
    }
    return {others_share, sums(*operation_) ? others_share / item : 0, 0};
  }

  std::string device() const override { return device_ ? device_->name() : ""; }

  Json point(std::size_t point, const Times& times) override {
    return Json::object()
        .set("size_bytes", settings_.points[point].size)
        .set("operation", settings_.points[point].operation->name)
        .set("result", Json::object().set("latency_s", times.median()));
  }

  /// Each operation's time at its first size, and which is absent for which reason.
  Json result(std::span<const Times> times) override {
    Json out = Json::object();
    if (settings_.lacks_barrier) out.set("absent", std::string("barrier: ") + no_barrier);
    const Operation* last = nullptr;
    for (std::size_t i = 0; i < settings_.points.size(); ++i) {
      const auto* operation = settings_.points[i].operation;
      if (operation != last) out.set(std::string(operation->name) + "_s", times[i].median());
      last = operation;
    }
    return out;
  }

 private:
  /// All that it sends lies where its result does; a barrier has none.
  void call() {
    const MessagePlace lies(operation_->out == Blocks::none ? nullptr : arguments_.out);
    if (settings_.blocking) return check(operation_->call(arguments_), operation_->name);
    MPI_Request request = MPI_REQUEST_NULL;
    check(operation_->start(arguments_, &request), operation_->name);
    check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  }

  void write_contents() {
    if (sums(*operation_)) {
      fill_items(in_, [this](int i) { return summand(comm_.rank(), i); });
      fill_items(out_, [](int) { return -1.0; });
      return;
    }
    for (int i = 0; i < count(operation_->in, comm_.size()); ++i) {
      write_pattern(block(in_, i), seed(comm_.rank(), i));
    }
    for (int i = 0; i < count(operation_->out, comm_.size()); ++i) {
      write_opposite(block(out_, i), seed(i, comm_.rank()));
    }
    if (is_handed_out() && comm_.rank() == 0) write_pattern(block(out_, 0), seed(0, 0));
  }

  std::span<unsigned char> block(const Buffer<unsigned char>& buffer, int i) const {
    const auto bytes = as_size(arguments_.bytes);
    return buffer.span().subspan(as_size(i) * bytes, bytes);
  }

  /// The same for every receiver, unless each gets its own.
  std::uint64_t seed(int source, int destination) const {
    const bool own = operation_->outcome == Outcome::own_bytes;
    return pattern_seed({round_, arguments_.bytes, source, own ? destination : -1});
  }

  // Whole numbers, so that their sum does not depend on the order of adding.
  double summand(int rank, int i) const { return static_cast<double>((i + round_) % 1024 + rank); }
  double sum(int i) const {
    const double ranks = comm_.size();
    return ranks * summand(0, i) + ranks * (ranks - 1) / 2;
  }

  template <class Value>
  void fill_items(const Buffer<unsigned char>& buffer, Value&& value) const {
    auto* items = reinterpret_cast<double*>(buffer.data());
    for (int i = 0; i < arguments_.items(); ++i) items[i] = value(i);
  }

  /// Does the root's buffer become that of all?
  bool is_handed_out() const {
    return operation_->in == Blocks::none && operation_->out == Blocks::one;
  }

  bool gets_result() const { return !ends_on_root(*operation_) || comm_.rank() == 0; }

  std::int64_t bytes_of(Blocks blocks) const {
    return count(blocks, comm_.size()) * arguments_.bytes;
  }

  /// Is what goes in the root's alone?
  bool comes_from_root() const {
    return is_handed_out() || (operation_->in == Blocks::each && operation_->out == Blocks::one);
  }

  /// What MPI is given: addresses of the device, or the host's memory with what was there.
  void give_device_memory() {
    arguments_.in = in_on_device_->incoming(in_.data());
    arguments_.out = out_on_device_->incoming(out_.data());
    if (comes_from_root() && comm_.rank() != 0) return;
    const bool handed_out = is_handed_out();
    const auto bytes = bytes_of(handed_out ? operation_->out : operation_->in);
    if (bytes == 0) return;
    if (handed_out) {
      out_on_device_->outgoing(out_.data(), bytes);
    } else {
      in_on_device_->outgoing(in_.data(), bytes);
    }
  }

  bool has_result() const {
    if (!executes_ || !gets_result()) return true;
    if (device_) out_on_device_->download();
    bool good = true;
    if (sums(*operation_)) {
      const auto* items = reinterpret_cast<const double*>(out_.data());
      for (int i = 0; i < arguments_.items(); ++i) good &= items[i] == sum(i);
      return good;
    }
    for (int i = 0; i < count(operation_->out, comm_.size()); ++i) {
      good &= has_pattern(block(out_, i), seed(i, comm_.rank()));
    }
    return good;
  }

  /// Nobody leaves a barrier before the last has come, as far as the clocks can tell.
  bool holds_back() {
    clock_.synchronise();
    const bool late = round_ % comm_.size() == comm_.rank();
    if (late) clock_.wait_until(clock_.now_s() + lateness_s);
    const double came_s = clock_.now_s();
    step();
    const double left_s = clock_.now_s();
    return left_s + 2 * clock_.error_s() >= comm_.max(came_s);
  }

  const Communicator& comm_;
  bool executes_;
  const Settings settings_;
  SharedClock clock_;
  Buffer<unsigned char> in_;
  Buffer<unsigned char> out_;
  std::unique_ptr<Device> device_;  ///< none where all is in the host's memory
  std::unique_ptr<BufferOnDevice> in_on_device_;
  std::unique_ptr<BufferOnDevice> out_on_device_;
  const Operation* operation_ = nullptr;
  Arguments arguments_{};
  std::int64_t round_ = 0;
};

}  // namespace

Kernel collectives() {
  using enum Result::Type;
  Kernel kernel;
  kernel.name = "collectives";
  kernel.summary = "Time of MPI collective operations, by message size";
  kernel.parameters = parameters();
  kernel.results = {{"absent", text, "operations that were not timed, with reasons", "",
                     "absent if all operations are supported"}};
  for (const auto& operation : operations) {
    const bool sized = operation.outcome != Outcome::nothing;
    kernel.results.push_back({std::string(operation.name) + "_s", real,
                              std::string("time per ") + operation.name + " call" +
                                  (sized ? " at the first message size" : ""),
                              "s", "absent unless requested"});
  }
  kernel.point_results = {{"latency_s", real, "time per call, median over repetitions", "s"}};
  kernel.repetitions = "100";
  kernel.warmup = "10";  // another operation's largest messages came before
  kernel.synchronisation = "round_time";
  kernel.sweeps = true;
  kernel.batched = true;
  kernel.small = {{"sizes=8,64K", "repetitions=3", "memory=host", "mpi=gpu_aware",
                   "device_lag=none", "gpus_shared=1"}};
  for (const std::string mpi : {"gpu_aware", "staged"}) {
    kernel.small.push_back({"sizes=8,64K", "repetitions=2", "steps=2", "warmup=0", "memory=device",
                            "mpi=" + mpi, "device_lag=until_waited", "gpus_shared=1"});
  }
  kernel.plan = plan;
  kernel.setup = [](const Context& context) { return std::make_unique<Collectives>(context); };
  return kernel;
}

}  // namespace halobench

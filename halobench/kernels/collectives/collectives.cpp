// SPDX-License-Identifier: BSD-3-Clause
// Collective operations by message size, blocking or not, each result checked. How ranks start
// together, and so what the times mean, is the protocol's `synchronisation`: round_time unless
// another is asked for.
#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "base/as_size.hpp"
#include "base/simulation.hpp"
#include "device/message_buffer.hpp"
#include "device/message_place.hpp"
#include "kernel.hpp"
#include "kernels/memory/memory.hpp"
#include "mpi/pattern.hpp"
#include "mpi/shared_clock.hpp"

namespace halobench {
namespace {

constexpr std::int64_t item = sizeof(double);
constexpr double lateness_s = 5e-5;  ///< of the last rank at a barrier that is checked
constexpr const char* no_barrier = "SMPI's MPI_Ibarrier does not synchronise (SimGrid 3.32)";

struct Arguments {
  const void* in;
  void* out;
  int bytes;  ///< of a block
  int ranks;
  MPI_Comm comm;

  int items() const { return bytes / static_cast<int>(item); }
};

/// Blocks in a rank's buffer: none, one, one for each rank.
enum class Blocks { none, one, each };

/// Which ranks get what: the same bytes everywhere, bytes for each alone, bytes of all or sums on
/// one, sums on all.
enum class Outcome { nothing, shared_bytes, own_bytes, bytes_on_root, sum_on_root, sum_on_all };

struct Operation {
  const char* name;
  Blocks in;
  Blocks out;
  Outcome outcome;
  int (*call)(const Arguments&);
  int (*start)(const Arguments&, MPI_Request*);
};

// The root, where there is one, is rank 0.
const std::array<Operation, 8> operations{{
    {"barrier", Blocks::none, Blocks::none, Outcome::nothing,
     [](const Arguments& a) { return MPI_Barrier(a.comm); },
     [](const Arguments& a, MPI_Request* r) { return MPI_Ibarrier(a.comm, r); }},
    {"bcast", Blocks::none, Blocks::one, Outcome::shared_bytes,
     [](const Arguments& a) { return MPI_Bcast(a.out, a.bytes, MPI_BYTE, 0, a.comm); },
     [](const Arguments& a, MPI_Request* r) {
       return MPI_Ibcast(a.out, a.bytes, MPI_BYTE, 0, a.comm, r);
     }},
    {"reduce", Blocks::one, Blocks::one, Outcome::sum_on_root,
     [](const Arguments& a) {
       // SMPI's, as Open MPI does it, has a rank that is alone send to nobody (SimGrid 3.32).
       if (simulated() && a.ranks == 1) {
         return MPI_Allreduce(a.in, a.out, a.items(), MPI_DOUBLE, MPI_SUM, a.comm);
       }
       return MPI_Reduce(a.in, a.out, a.items(), MPI_DOUBLE, MPI_SUM, 0, a.comm);
     },
     [](const Arguments& a, MPI_Request* r) {
       return MPI_Ireduce(a.in, a.out, a.items(), MPI_DOUBLE, MPI_SUM, 0, a.comm, r);
     }},
    {"allreduce", Blocks::one, Blocks::one, Outcome::sum_on_all,
     [](const Arguments& a) {
       return MPI_Allreduce(a.in, a.out, a.items(), MPI_DOUBLE, MPI_SUM, a.comm);
     },
     [](const Arguments& a, MPI_Request* r) {
       return MPI_Iallreduce(a.in, a.out, a.items(), MPI_DOUBLE, MPI_SUM, a.comm, r);
     }},
    {"alltoall", Blocks::each, Blocks::each, Outcome::own_bytes,
     [](const Arguments& a) {
       return MPI_Alltoall(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.comm);
     },
     [](const Arguments& a, MPI_Request* r) {
       return MPI_Ialltoall(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.comm, r);
     }},
    {"allgather", Blocks::one, Blocks::each, Outcome::shared_bytes,
     [](const Arguments& a) {
       return MPI_Allgather(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.comm);
     },
     [](const Arguments& a, MPI_Request* r) {
       return MPI_Iallgather(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.comm, r);
     }},
    {"gather", Blocks::one, Blocks::each, Outcome::bytes_on_root,
     [](const Arguments& a) {
       return MPI_Gather(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, 0, a.comm);
     },
     [](const Arguments& a, MPI_Request* r) {
       return MPI_Igather(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, 0, a.comm, r);
     }},
    {"scatter", Blocks::each, Blocks::one, Outcome::own_bytes,
     [](const Arguments& a) {
       return MPI_Scatter(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, 0, a.comm);
     },
     [](const Arguments& a, MPI_Request* r) {
       return MPI_Iscatter(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, 0, a.comm, r);
     }},
}};

bool ends_on_root(const Operation& operation) {
  return operation.outcome == Outcome::bytes_on_root || operation.outcome == Outcome::sum_on_root;
}

bool sums(const Operation& operation) {
  return operation.outcome == Outcome::sum_on_root || operation.outcome == Outcome::sum_on_all;
}

std::int64_t count(Blocks blocks, std::int64_t ranks) {
  if (blocks == Blocks::none) return 0;
  return blocks == Blocks::one ? 1 : ranks;
}

/// An operation at a size.
struct Point {
  const Operation* operation;
  std::int64_t size;
};

/// Whether a call does not do under simulation what MPI says of it.
bool lacking(const Operation& operation, const Params& params) {
  return simulated() && operation.outcome == Outcome::nothing &&
         params.choice("call") == "nonblocking";
}

/// Of all operations those that there are; one that was asked for by its name in any case.
std::vector<Point> parse_points(const Params& params) {
  const auto& wanted = params.choice("operation");
  std::vector<Point> points;
  for (const auto& operation : operations) {
    if (wanted == "all" ? lacking(operation, params) : wanted != operation.name) continue;
    if (operation.outcome == Outcome::nothing) {
      points.push_back({&operation, 0});
    } else {
      for (const auto size : params.sizes("sizes")) points.push_back({&operation, size});
    }
  }
  return points;
}

/// Bytes of the largest buffer, in or out, that any point needs.
std::int64_t largest(const std::vector<Point>& points, Blocks Operation::* side,
                     std::int64_t ranks) {
  std::int64_t most = 0;
  for (const auto& point : points) {
    most = std::max(most, count(point.operation->*side, ranks) * point.size);
  }
  return most;
}

class Collectives : public Instance {
 public:
  explicit Collectives(const Context& context)
      : comm_(context.comm),
        executes_(context.meter.executes()),
        blocking_(context.params.choice("call") == "blocking"),
        points_(parse_points(context.params)),
        lacks_barrier_(lacking(operations[0], context.params)),
        clock_(comm_) {
    in_ = context.memory.allocate<unsigned char>(largest(points_, &Operation::in, comm_.size()),
                                                 Pages::ordinary);
    out_ = context.memory.allocate<unsigned char>(largest(points_, &Operation::out, comm_.size()),
                                                  Pages::ordinary);
    device_ = chosen_device(context);
    if (device_) {
      std::tie(in_on_device_, out_on_device_) =
          buffers_on_device(*device_, context.memory, in_, out_, stages_messages(context.params));
    }
    select(0);
  }

  std::size_t points() const override { return points_.size(); }

  void select(std::size_t point) override {
    operation_ = points_[point].operation;
    arguments_ = {in_.data(), out_.data(), message_count(points_[point].size), comm_.size(),
                  comm_.handle()};
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
        .set("size_bytes", points_[point].size)
        .set("operation", points_[point].operation->name)
        .set("result", Json::object().set("latency_s", times.median()));
  }

  /// Each operation's time at its first size, and which is absent for which reason.
  Json result(std::span<const Times> times) override {
    Json out = Json::object();
    if (lacks_barrier_) out.set("absent", std::string("barrier: ") + no_barrier);
    const Operation* last = nullptr;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const auto* operation = points_[i].operation;
      if (operation != last) out.set(std::string(operation->name) + "_s", times[i].median());
      last = operation;
    }
    return out;
  }

 private:
  /// All that it sends lies where its result does; a barrier has none.
  void call() {
    const MessagePlace lies(operation_->out == Blocks::none ? nullptr : arguments_.out);
    if (blocking_) return check(operation_->call(arguments_), operation_->name);
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
  bool blocking_;
  std::vector<Point> points_;
  bool lacks_barrier_;  ///< of all operations
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

Plan plan_collectives(const Params& params, const Shape& shape) {
  Plan plan;
  const auto points = parse_points(params);
  if (lacking(*points[0].operation, params)) {
    plan.problems.push_back(
        {"call", "nonblocking",
         std::string(no_barrier) + "; give another operation, or call=blocking"});
  }
  const auto odd = std::ranges::find_if(
      points, [](const Point& point) { return sums(*point.operation) && point.size % item != 0; });
  if (odd != points.end()) {
    plan.problems.push_back(
        {"sizes", std::to_string(odd->size),
         std::string(odd->operation->name) + " adds values of 8 bytes; give multiples of 8"});
  }
  const auto of_a_rank =
      largest(points, &Operation::in, shape.ranks) + largest(points, &Operation::out, shape.ranks);
  plan_buffers(params, static_cast<double>(shape.ranks) * static_cast<double>(of_a_rank), plan);
  plan_messages(params, plan);
  return plan;
}

std::vector<Parameter> parameters() {
  using enum Parameter::Type;
  std::vector<std::string> names{"all"};
  for (const auto& operation : operations) names.emplace_back(operation.name);
  std::vector<Parameter> all = {
      {"operation",
       choice,
       "all",
       "collective to time; all: one after the other",
       "",
       {},
       {},
       names},
      {"sizes", sizes, "8:1M",
       "bcast, reduce, allreduce: message size; others: bytes per pair of ranks, or per rank at "
       "the root",
       "B", 1, static_cast<double>(std::numeric_limits<int>::max())},
      Parameter::one_of("call", "blocking",
                        "blocking, or nonblocking: start, then wait immediately",
                        {"blocking", "nonblocking"}),
  };
  for (auto& one : message_parameters()) all.push_back(std::move(one));
  return all;
}

}  // namespace

Kernel collectives() {
  using enum Result::Type;
  Kernel kernel;
  kernel.name = "collectives";
  kernel.summary = "Time of barrier and data-moving collectives, by size";
  kernel.parameters = parameters();
  kernel.results = {{"absent", text, "unsupported operations, with the reason", "",
                     "absent if all operations are supported"}};
  for (const auto& operation : operations) {
    kernel.results.push_back({std::string(operation.name) + "_s", real,
                              "time per call at its first size", "s", "absent unless requested"});
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
  kernel.plan = plan_collectives;
  kernel.setup = [](const Context& context) { return std::make_unique<Collectives>(context); };
  return kernel;
}

}  // namespace halobench

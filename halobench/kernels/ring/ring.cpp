// SPDX-License-Identifier: BSD-3-Clause
// Messages round a ring of ranks, both ways at once, until each is back where it began: M. Celoria,
// Report for Assignment 1 of Foundations of High Performance Computing, 2021, section 1.A.
#include "base/simulation.hpp"
#include "kernel.hpp"

namespace halobench {
namespace {

constexpr int tag_of_a_rank = 10;  ///< times the rank a message began at

struct Message {
  std::int64_t value;
  int tag;
};

class Ring : public Instance {
 public:
  explicit Ring(const Context& context)
      : comm_(context.comm),
        left_((comm_.rank() + comm_.size() - 1) % comm_.size()),
        right_((comm_.rank() + 1) % comm_.size()) {
    int* highest_tag = nullptr;
    int known = 0;
    check(MPI_Comm_get_attr(comm_.handle(), MPI_TAG_UB, &highest_tag, &known), "MPI_Comm_get_attr");
    if (known != 0 && own_tag(comm_.size() - 1) > *highest_tag) {
      throw UsageError("ranks=" + std::to_string(comm_.size()) +
                       ": the largest tag of this MPI library is " + std::to_string(*highest_tag) +
                       "; use at most " + std::to_string(*highest_tag / tag_of_a_rank + 1) +
                       " ranks");
    }
  }

  void prepare() override { leftward_ = rightward_ = {-1, -1}; }

  /// Each message begins with its rank's number, negative to the left, and every rank that passes
  /// it on takes its own away from those that came from the right, and adds it to those from the
  /// left.
  void step() override {
    const int rank = comm_.rank();
    leftward_ = {-rank, own_tag(rank)};
    rightward_ = {rank, own_tag(rank)};
    for (int hop = 1; hop < comm_.size(); ++hop) {
      pass(leftward_, left_, right_);
      pass(rightward_, right_, left_);
      leftward_.value -= rank;
      rightward_.value += rank;
    }
    pass(leftward_, left_, right_);
    pass(rightward_, right_, left_);
  }

  /// Every message has met every rank once.
  Verdict verify() override {
    const std::int64_t sum = std::int64_t{comm_.size()} * (comm_.size() - 1) / 2;
    const int tag = own_tag(comm_.rank());
    const bool good = leftward_.value == -sum && rightward_.value == sum && leftward_.tag == tag &&
                      rightward_.tag == tag;
    if (comm_.all(good)) return {};
    return {"a returned message is not the rank's own, or not " + std::to_string(sum)};
  }

  Work work() const override {
    const double messages = 2.0 * comm_.size();
    return {messages * sizeof(std::int64_t), 0, messages};
  }

  Json result(std::span<const Times> times) override {
    return Json::object()
        .set("cycle_s", times[0].median())
        .set("cycle_mean_s", times[0].mean())
        .set("cycle_deviation_s", times[0].deviation())
        .set("messages_received", 2 * comm_.size())
        .set("values", std::vector<std::int64_t>{leftward_.value, rightward_.value});
  }

 private:
  static int own_tag(int rank) { return tag_of_a_rank * rank; }

  /// Sends a message on and receives the one behind it, whichever it is.
  void pass(Message& message, int to, int from) {
    MPI_Status status;
    Message behind{};
    check(MPI_Sendrecv(&message.value, 1, MPI_INT64_T, to, message.tag, &behind.value, 1,
                       MPI_INT64_T, from, MPI_ANY_TAG, comm_.handle(), &status),
          "MPI_Sendrecv");
    const bool has_tag = !simulated() || to != comm_.rank();  // SMPI: not in a message to itself
    behind.tag = has_tag ? status.MPI_TAG : message.tag;
    message = behind;
  }

  const Communicator& comm_;
  int left_;
  int right_;
  Message leftward_{};
  Message rightward_{};
};

}  // namespace

Kernel ring() {
  using enum Result::Type;
  Kernel kernel;
  kernel.name = "ring";
  kernel.summary =
      "Messages sent in both directions around a ring of ranks until each returns to its sender";
  kernel.paper = "orfeo-mpi-report, section 1.A";
  kernel.results = {
      {"cycle_s", real, "time until all messages have returned, median over repetitions", "s"},
      {"cycle_mean_s", real, "mean over repetitions", "s"},
      {"cycle_deviation_s", real, "sample standard deviation of cycle_s over repetitions", "s",
       "null with one repetition"},
      {"messages_received", integer, "number of messages received per cycle, summed over ranks"},
      {"values",
       integers,
       "last values that rank 0 receives, from the message sent left and from the "
       "message sent right",
       "",
       "",
       {}}};
  kernel.repetitions = "10";
  kernel.warmup = "2";
  kernel.batched = true;
  kernel.plan = [](const Params&, const Shape&) { return Plan{}; };
  kernel.setup = [](const Context& context) { return std::make_unique<Ring>(context); };
  return kernel;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// The star forest's kernels in a device's memory that lags: right with every wait, and wrong, as
// they say themselves, without any one of those that they need. And right where it works as early
// as it may, or at random, with messages that arrive as late as they may.
#include <algorithm>

#include "expect.hpp"
#include "forgetful_space.hpp"
#include "kernels/jacobi3d/jacobi3d.hpp"
#include "kernels/poisson_cg/poisson_cg.hpp"
#include "kernels/sf_grid/sf_grid.hpp"
#include "kernels/spmv/spmv.hpp"
#include "kernels/star_forest/pair.hpp"
#include "late_mpi.hpp"
#include "mpi_on_stream.hpp"

using namespace halobench;

namespace {

/// A kernel, and what it needs.
struct Tested {
  std::string name;
  std::function<Kernel(const SpaceMaker&)> make;
  bool packs = false;         ///< something is packed before it is sent
  bool works_at_end = false;  ///< something is unpacked or scattered
  bool always_ready = false;  ///< right with the orderings that wait for nothing
  bool comes_back = false;    ///< what arrives last is what was there before
  CaseArguments small = {"sizes=8,64K"};
  bool late = false;               ///< its messages begin when the operation ends
  bool orders_its_stages = false;  ///< by an event of its own
  int steps = 3;                   ///< that its answer may follow
  bool by_stream = false;          ///< its messages may be the stream's own (mpi=nccl)
};

/// Of a matrix whose ranks want single values of each other.
CaseArguments products(const std::string& overlap) {
  return {"matrix=random", "n=100", "row_length=3", "memory=device", "overlap=" + overlap};
}

std::vector<Tested> tested(const Communicator& comm) {
  const auto pair = [](const PairTest& test) {
    return [test](const SpaceMaker& make_space) { return pair_kernel(test, make_space); };
  };
  std::vector<Tested> all{{"grid", sf_grid_in, comm.size() > 1, true, false, false, {"n=5,16"}}};
  all[0].by_stream = true;
  if (comm.size() == 1) return all;
  const PairTest one{.name = "one buffer", .summary = "", .section = ""};
  auto two = one;
  two.two_buffers = true;
  auto sums = one;
  sums.adds = true;
  auto own = sums;
  own.local = true;
  all.push_back({"two buffers", pair(two), false, false, true});
  all.push_back({"one buffer", pair(one), false, false, false, true});
  all.push_back({"sums", pair(sums), false, true});
  all.push_back({"own leaves", pair(own), false, true});
  for (auto& kernel : all) kernel.by_stream = true;
  for (const std::string overlap : {"none", "split", "early_launch", "split_temporary"}) {
    const bool late = overlap != "none" && overlap != "split";
    all.push_back({"spmv " + overlap, spmv_in, true, false, false, false, products(overlap), late,
                   overlap == "split_temporary"});
  }
  const CaseArguments solve{"n=20", "variant=textbook", "memory=device"};
  auto blocks = solve;
  blocks.push_back("decomposition=blocks");
  all.push_back({"poisson_cg in rows", poisson_cg_in, false, false, false, false, solve});
  const CaseArguments sweeps{"size=9x9x9", "memory=device", "topology=1d"};
  all.push_back(
      {"jacobi3d in slabs", jacobi3d_in, true, true, false, false, sweeps, false, false, 1});
  if (comm.size() == 4) {
    all.push_back({"poisson_cg in blocks", poisson_cg_in, true, true, false, false, blocks});
  }
  return all;
}

/// What a kernel says of its answers, of the points of its small cases one after another.
std::vector<std::string> verdicts(const Communicator& comm, const Kernel& kernel,
                                  const CaseArguments& arguments, int steps = 3) {
  std::vector<Problem> problems;
  const Params params(kernel.all_parameters(), arguments, problems);
  expect::equal(problems.size(), 0U);
  expect::equal(kernel.plan_for(params, {comm.size(), 1}).problems.size(), 0U);
  Meter meter{Meter::Setting{}};
  Memory memory{false};
  const auto instance = kernel.setup({comm, params, meter, memory});
  expect::equal(instance->device(), "emulated");
  std::vector<std::string> all;
  for (std::size_t point = 0; point < instance->points(); ++point) {
    instance->select(point);
    instance->prepare();
    for (int step = 0; step < steps; ++step) instance->step();
    all.push_back(instance->verify().reason);
    for (std::size_t part = 0; part < instance->parts().size(); ++part) instance->run_part(part);
  }
  return all;
}

/// Whose messages MPI sends, and whose are of the device's stream.
enum class By { mpi, stream };

bool is_needed(const Communicator& comm, const Tested& kernel, const DeviceSpace::Setting& setting,
               By by, Wait wait) {
  const bool general = setting.ordering == Ordering::general;
  const bool by_stream = by == By::stream;
  const bool staged = (setting.staged || by_stream) && comm.size() > 1;  // or arrives as late
  switch (wait) {
    case Wait::none:
      return false;
    case Wait::before_pack:
      return general;
    case Wait::before_messages:
      return !by_stream && comm.size() > 1 && (!general || kernel.packs || staged) &&
             setting.ordering <= Ordering::default_stream;
    case Wait::after_unpack:
      return general &&
             (kernel.works_at_end || (staged && !kernel.comes_back && !kernel.orders_its_stages));
    case Wait::after_copy_in:
      return !by_stream && setting.ordering >= Ordering::stream_aware;
  }
  return false;
}

/// Each wait left out in turn: noticed where it is needed, and no difference where it is not.
void every_wait_counts(const Communicator& comm, const Tested& kernel, DeviceSpace::Setting setting,
                       By by = By::mpi) {
  using enum Wait;
  setting.late = kernel.late;
  for (const auto left_out : {none, before_pack, before_messages, after_unpack, after_copy_in}) {
    const auto made = kernel.make([&](Meter& meter, Memory& memory) -> std::unique_ptr<Space> {
      auto messages = by == By::stream ? std::make_unique<MpiOnStream>(comm) : nullptr;
      return std::make_unique<ForgetfulSpace>(meter, memory, setting, left_out,
                                              std::move(messages));
    });
    const bool needed = is_needed(comm, kernel, setting, by, left_out);
    for (const auto& reason : verdicts(comm, made, kernel.small, kernel.steps)) {
      expect::is_true(reason.empty() == !needed,
                      kernel.name + ", ordering " +
                          std::to_string(static_cast<int>(setting.ordering)) +
                          (setting.staged ? ", staged" : "") +
                          (by == By::stream ? ", by the stream" : "") + ", without wait " +
                          std::to_string(static_cast<int>(left_out)) + ": '" + reason + "'");
    }
  }
}

/// Streams that do not wait for each other's events.
class DeafDevice : public EmulatedDevice {
 public:
  using EmulatedDevice::EmulatedDevice;
  void wait(Stream /*stream*/, Event /*event*/) override {}
};

/// Two products on a stream each, whose sum needs both.
void events_count(const Communicator& comm) {
  if (comm.size() == 1) return;
  using Lag = EmulatedDevice::Lag;
  const auto is_wrong = [&](Lag lag, bool staged) {
    const auto deaf = [&](Meter& meter, Memory& memory) -> std::unique_ptr<Space> {
      const DeviceSpace::Setting setting{Ordering::default_stream, staged, true};
      return std::make_unique<DeviceSpace>(meter, memory, std::make_unique<DeafDevice>(lag),
                                           setting);
    };
    const auto reasons = verdicts(comm, spmv_in(deaf), products("split_temporary"));
    return std::ranges::none_of(reasons, &std::string::empty);
  };
  for (const bool staged : {false, true}) {
    expect::is_true(is_wrong(Lag::until_waited, staged), "late streams need no events");
    expect::is_true(is_wrong(Lag::random, staged), "streams at random need no events");
    expect::is_true(!is_wrong(Lag::eager, staged), "eager streams need events");
  }
}

constexpr unsigned seeds = 4;

/// Whatever streams do first, and however late messages come.
void every_schedule_is_right(const Communicator& comm, const Tested& kernel,
                             DeviceSpace::Setting setting) {
  using Lag = EmulatedDevice::Lag;
  setting.late = kernel.late;
  const auto right = [&](Lag lag, unsigned seed) {
    const auto made = kernel.make([&](Meter& meter, Memory& memory) -> std::unique_ptr<Space> {
      return std::make_unique<ForgetfulSpace>(meter, memory, setting, Wait::none, nullptr, lag,
                                              seed + static_cast<unsigned>(comm.rank()));
    });
    for (const auto& reason : verdicts(comm, made, kernel.small, kernel.steps)) {
      const std::string how = lag == Lag::eager ? "eager" : "seed " + std::to_string(seed);
      expect::is_true(reason.empty(), kernel.name + (setting.staged ? ", staged, " : ", ") + how +
                                          ": '" + reason + "'");
    }
  };
  right(Lag::eager, 1);
  for (unsigned seed = 1; seed <= seeds; ++seed) right(Lag::random, 100 * seed);
}

/// By name, before anything is launched, as no GPU of a rank's own is here.
void messages_by_nccl_are_refused() {
  const PairTest pair{.name = "pair", .summary = "", .section = ""};
  for (const auto& kernel : {pair_kernel(pair, {}), sf_grid_in({})}) {
    const auto planned = [&](CaseArguments arguments) {
      arguments.insert(arguments.end(), {"mpi=nccl"});
      std::vector<Problem> problems;
      const Params params(kernel.all_parameters(), arguments, problems);
      expect::equal(problems.size(), 0U);
      return kernel.plan_for(params, {4, 1});
    };
    expect::contains(planned({"memory=device"}).absent,
                     "mpi=nccl: NCCL needs NVIDIA GPUs, and this device is emulated");
    expect::equal(planned({"memory=device"}).problems.size(), 0U);
    expect::equal(planned({"memory=host"}).absent, "");
    const auto shared = planned({"memory=device", "gpus_shared=2"}).problems;
    expect::equal(shared.size(), 1U);
    expect::contains(shared.at(0).message, "NCCL needs one GPU per rank");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const EnvironmentOfThreads environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  for (const auto& kernel : tested(comm)) {
    for (const bool staged : {false, true}) {
      every_wait_counts(comm, kernel, {Ordering::general, staged});
      every_wait_counts(comm, kernel, {Ordering::default_stream, staged});
      every_schedule_is_right(comm, kernel, {Ordering::general, staged});
      every_schedule_is_right(comm, kernel, {Ordering::default_stream, staged});
    }
    if (kernel.by_stream) {
      every_wait_counts(comm, kernel, {Ordering::general}, By::stream);
      every_wait_counts(comm, kernel, {Ordering::default_stream}, By::stream);
    }
    if (!kernel.always_ready) continue;
    every_wait_counts(comm, kernel, {Ordering::stream_aware}, By::stream);
    every_wait_counts(comm, kernel, {Ordering::typed}, By::stream);
    every_wait_counts(comm, kernel, {Ordering::stream_aware, false});
    every_wait_counts(comm, kernel, {Ordering::typed, false});
  }
  events_count(comm);
  messages_by_nccl_are_refused();
  return expect::exit_code();
}

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/memory/memory.hpp"

#include <array>
#include <utility>

#include "base/simulation.hpp"
#include "device/kind.hpp"
#include "device/stream_messages.hpp"
#include "star_forest/ordering.hpp"

namespace halobench {
namespace {

constexpr std::size_t that_wait = 2;  ///< of these
constexpr int most_sharing = 1024;

std::vector<std::string> ordering_names(bool always_ready) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < (always_ready ? orderings.size() : that_wait); ++i) {
    names.emplace_back(orderings[i].first);
  }
  return names;
}

/// Does the device's stream send and receive messages by itself?
bool sends_by_stream(const Params& params) {
  return is_on_device(params) && params.choice("mpi") == "nccl";
}

constexpr const char* devices =
    "a device's: of a GPU where halobench was built for one (--device cuda or hip), else of an "
    "emulated one: memory that the host may not touch, a thread a stream; times there say nothing "
    "of a real device. On a simulated cluster, of its GPUs, which its file describes";

/// What a device is asked for besides what it is to do.
std::vector<Parameter> of_any_device() {
  return {Parameter::one_of(
              "device_lag", "none",
              "of an emulated device, when streams work, so that what is missing gives a wrong "
              "answer. none: at once, beside the host; until_waited: not before the host waits "
              "for them, as late as may be; eager: in the call that gives the work, as early as "
              "may be; random: some of it in each call, of any stream, the same in every launch",
              std::vector<std::string>(device_schedules.begin(), device_schedules.end())),
          {"gpus_shared", Parameter::Type::integer, "1",
           "of GPUs, how many ranks of a node may share one: those that follow each other, on a "
           "simulated node those of a socket that do",
           "", 1, most_sharing}};
}

std::vector<Parameter> joined(std::vector<Parameter> some, std::vector<Parameter> more) {
  for (auto& one : more) some.push_back(std::move(one));
  return some;
}

std::vector<Parameter> parameters_of_messages(bool by_stream) {
  std::string help =
      "of a device, what MPI is given: addresses of the device's memory, or (staged) the host's "
      "memory, which is copied from and to";
  std::vector<std::string> ways{"gpu_aware", "staged"};
  if (by_stream) {
    help +=
        "; nccl: nothing, as the GPU's stream sends and receives in its order, by NCCL, so that no "
        "message is waited for but at the end of an operation with sync=general: where halobench "
        "was built for CUDA and NCCL was there, with a GPU for each rank";
    ways.emplace_back("nccl");
  }
  return joined(
      {
          Parameter::one_of("memory", "host",
                            std::string("of arrays and buffers: the host's, or ") + devices,
                            {"host", "device"}),
          Parameter::one_of("mpi", "gpu_aware", std::move(help), std::move(ways)),
      },
      of_any_device());
}

}  // namespace

std::vector<Parameter> device_parameters() {
  return joined(
      {Parameter::one_of("memory", "device", std::string("of arrays: ") + devices, {"device"})},
      of_any_device());
}

std::vector<Parameter> message_parameters() { return parameters_of_messages(false); }

std::vector<Parameter> memory_parameters(bool always_ready, bool by_stream) {
  auto all = parameters_of_messages(by_stream);
  all.push_back(Parameter::one_of(
      "sync", "default_stream",
      std::string("of a device, what an operation waits for. general: all streams before packing, "
                  "its own before messages and when it has unpacked; default_stream: its own "
                  "before messages alone") +
          (always_ready ? "; stream_aware: nothing, as if MPI waited for the stream, which is "
                          "right where values were there long before; typed: besides, nobody asks "
                          "which memory an address is of (options A to D of the report)"
                        : " (options A and B of the report)"),
      ordering_names(always_ready)));
  return all;
}

void plan_messages(const Params& params, Plan& plan) {
  if (is_on_device(params) && !has_devices()) {
    plan.problems.push_back({"memory", "device",
                             "this program was built without devices: take the one whose name ends "
                             "in _device"});
    return;
  }
  const bool may_lag = !simulated() && device_kind() == "emulated";
  if (!is_on_device(params) || may_lag || params.choice("device_lag") == "none") return;
  const std::string what = simulated() ? "simulated" : "a GPU";
  plan.absent = "device_lag=" + params.choice("device_lag") +
                ": only an emulated device lags, and this one is " + what + "; give none";
}

void plan_memory(const Params& params, Plan& plan) {
  plan_messages(params, plan);
  if (!is_on_device(params) || !has_devices()) return;
  const auto& sync = params.choice("sync");
  const bool waits = sync == "general" || sync == "default_stream";
  if (stages_messages(params) && !waits) {
    plan.problems.push_back({"sync", sync,
                             "staged messages wait for their copies: give general or "
                             "default_stream, or mpi=gpu_aware"});
  }
  if (!sends_by_stream(params)) return;
  if (const auto shared = params.integer("gpus_shared"); shared != 1) {
    plan.problems.push_back({"gpus_shared", std::to_string(shared),
                             "NCCL takes a GPU for each rank: give 1, or mpi=gpu_aware or staged"});
  }
  if (const auto missing = stream_messages_missing(); !missing.empty()) {
    plan.absent = "mpi=nccl: " + missing;
  }
}

bool has_devices() { return make_device != nullptr; }

bool is_on_device(const Params& params) { return params.choice("memory") == "device"; }

bool stages_messages(const Params& params) {
  return is_on_device(params) && params.choice("mpi") == "staged";
}

void plan_buffers(const Params& params, double bytes, Plan& plan) {
  plan.memory_bytes = bytes;
  if (!is_on_device(params)) return;
  plan.device_bytes = bytes;
  plan.memory_bytes += stages_messages(params) ? 2 * bytes : bytes;
}

std::unique_ptr<Device> chosen_device(const Context& context) {
  return is_on_device(context.params) ? made_device(context) : nullptr;
}

std::vector<CaseArguments> small_in_memories(const CaseArguments& on_host,
                                             const CaseArguments& on_device, bool always_ready) {
  std::vector<CaseArguments> all;
  const auto add = [&](const CaseArguments& small, const std::vector<std::string>& more) {
    auto& arguments = all.emplace_back(small);
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back("gpus_shared=1");
  };
  add(on_host, {"memory=host", "mpi=gpu_aware", "sync=default_stream", "device_lag=none"});
  add(on_device, {"memory=device", "mpi=gpu_aware", "sync=default_stream", "device_lag=none"});
  for (const auto& name : ordering_names(always_ready)) {
    add(on_device, {"memory=device", "mpi=gpu_aware", "sync=" + name, "device_lag=until_waited"});
  }
  for (const auto& name : ordering_names(false)) {
    add(on_device, {"memory=device", "mpi=staged", "sync=" + name, "device_lag=until_waited"});
  }
  for (const std::string schedule : {"eager", "random"}) {
    for (const std::string mpi : {"gpu_aware", "staged"}) {
      add(on_device,
          {"memory=device", "mpi=" + mpi, "sync=default_stream", "device_lag=" + schedule});
    }
  }
  return all;
}

}  // namespace halobench

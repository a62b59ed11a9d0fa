// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/memory/memory.hpp"

#include <array>
#include <utility>

#include "base/simulation.hpp"
#include "device/kind.hpp"
#include "device/stream_messages.hpp"

namespace halobench {
namespace {

constexpr std::size_t that_wait = 2;  ///< of these
constexpr int most_sharing = 1024;

std::vector<std::string> ordering_names(bool always_ready) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < (always_ready ? orderings.size() : that_wait); ++i) {
    names.emplace_back(orderings[i]);
  }
  return names;
}

constexpr const char* devices =
    "device: GPU memory (--device cuda or hip). A simulated cluster uses the GPUs described in its "
    "cluster file. Otherwise, without --device, the device is emulated on the host, and times "
    "are not representative of a GPU";

/// Parameters of a device other than its work.
std::vector<Parameter> of_any_device() {
  return {Parameter::one_of(
              "device_lag", "none",
              "when an emulated device executes queued operations, to expose missing waits. none: "
              "concurrently with the host; until_waited: as late as possible (when the host "
              "waits); eager: as early as possible (in the call that queues them); random: in "
              "randomly chosen calls (the same in every launch)",
              std::vector<std::string>(device_schedules.begin(), device_schedules.end())),
          {"gpus_shared", Parameter::Type::integer, "1",
           "maximum number of ranks per GPU. Consecutive ranks on a node (in simulations: on a "
           "socket) share a GPU",
           "", 1, most_sharing}};
}

std::vector<Parameter> joined(std::vector<Parameter> some, std::vector<Parameter> more) {
  for (auto& one : more) some.push_back(std::move(one));
  return some;
}

std::vector<Parameter> parameters_of_messages(bool by_stream) {
  std::string help =
      "with memory=device, the memory that MPI accesses. gpu_aware: device memory; staged: host "
      "memory, with copies to and from the device";
  std::vector<std::string> ways{"gpu_aware", "staged"};
  if (by_stream) {
    help +=
        "; nccl: NCCL sends and receives on the GPU's stream (requires a CUDA build with NCCL and "
        "one GPU per rank). With nccl, the host waits only at the end of an exchange, and only "
        "with sync=general";
    ways.emplace_back("nccl");
  }
  return joined(
      {
          Parameter::one_of(
              "memory", "host",
              std::string("memory for arrays and buffers. host: host memory; ") + devices,
              {"host", "device"}),
          Parameter::one_of("mpi", "gpu_aware", std::move(help), std::move(ways)),
      },
      of_any_device());
}

}  // namespace

std::vector<Parameter> device_parameters() {
  return joined({Parameter::one_of("memory", "device", std::string("memory for arrays. ") + devices,
                                   {"device"})},
                of_any_device());
}

std::vector<Parameter> message_parameters() { return parameters_of_messages(false); }

std::vector<Parameter> memory_parameters(bool always_ready, bool by_stream) {
  auto all = parameters_of_messages(by_stream);
  all.push_back(Parameter::one_of(
      "sync", "default_stream",
      std::string("with memory=device, which streams the host waits for during an exchange. "
                  "general: all streams before packing, and the stream of the exchange before "
                  "sending messages and after unpacking; default_stream: only the stream of the "
                  "exchange, before sending messages") +
          (always_ready ? "; stream_aware: none, because MPI is assumed to wait for the stream "
                          "(otherwise, values may be incomplete); typed: as stream_aware, but "
                          "without querying the memory type of addresses"
                        : ""),
      ordering_names(always_ready)));
  return all;
}

MemorySettings parse_device(const Params& params) {
  return {params.choice("memory") == "device", params.choice("device_lag"),
          static_cast<int>(params.integer("gpus_shared"))};
}

MemorySettings parse_messages(const Params& params) {
  auto settings = parse_device(params);
  settings.transport = params.chosen<Transport>("mpi");
  return settings;
}

MemorySettings parse_memory(const Params& params) {
  auto settings = parse_messages(params);
  settings.ordering = params.chosen<Ordering>("sync");
  return settings;
}

void plan_memory(const MemorySettings& settings, Plan& plan) {
  if (!settings.on_device) return;
  if (make_device == nullptr) {
    plan.problems.push_back(
        {"memory", "device",
         "this program was built without devices; run the one whose name ends in _device"});
    return;
  }
  const bool may_lag = !simulated() && device_kind() == "emulated";
  if (!may_lag && settings.lag != "none") {
    const std::string what = simulated() ? "simulated" : "a GPU";
    plan.absent = "device_lag=" + settings.lag +
                  ": supported only for an emulated device, but this one is " + what +
                  "; give none";
  }
  const auto ordering = static_cast<std::size_t>(settings.ordering);
  if (settings.staged() && ordering >= that_wait) {
    plan.problems.push_back({"sync", orderings[ordering],
                             "staged messages wait for their copies; give general or "
                             "default_stream, or mpi=gpu_aware"});
  }
  if (!settings.by_stream()) return;
  if (settings.sharing != 1) {
    plan.problems.push_back({"gpus_shared", std::to_string(settings.sharing),
                             "NCCL needs one GPU per rank; give 1, or mpi=gpu_aware or staged"});
  }
  if (const auto missing = stream_messages_missing(); !missing.empty()) {
    plan.absent = "mpi=nccl: " + missing;
  }
}

void plan_buffers(const MemorySettings& settings, double bytes, Plan& plan) {
  plan.memory_bytes = bytes;
  if (!settings.on_device) return;
  plan.device_bytes = bytes;
  plan.memory_bytes += settings.staged() ? 2 * bytes : bytes;
}

std::unique_ptr<Device> chosen_device(const Context& context, const MemorySettings& settings) {
  return settings.on_device ? made_device(context, settings) : nullptr;
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

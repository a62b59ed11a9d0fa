// SPDX-License-Identifier: BSD-3-Clause
#include "case.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <vector>

#include "machine/own_gpu.hpp"
#include "machine/placement.hpp"
#include "mpi/agreement.hpp"
#include "protocol.hpp"
#include "timeline.hpp"

namespace halobench {
namespace {

constexpr int schema = 1;
constexpr std::int64_t simulated_warmup = 2;  ///< at most: caches are not simulated

/// Throws what is wrong with them, on every rank; else `plan` is the kernel's. Collective: files
/// may be there on some nodes alone; not so under simulation, where more messages would be more
/// time.
Params accepted_params(const Kernel& kernel, const Command& command, const Communicator& comm,
                       int threads, Plan& plan) {
  std::vector<Problem> problems;
  Params params(kernel.all_parameters(), command.arguments, problems, command.files);
  if (problems.empty()) {
    plan = made_once("plan", [&] { return kernel.plan_for(params, {comm.size(), threads}); });
    problems = plan.problems;
  }
  std::string text;
  for (const auto& problem : problems) {
    text += (text.empty() ? "" : "\n") + problem.key + "=" + problem.value + ": " + problem.message;
  }
  if (text.empty() && !plan.absent.empty()) text = kernel.name + ": " + plan.absent;
  if (!simulated()) refuse_together(comm, text);
  if (!text.empty()) throw UsageError(text);
  return params;
}

/// Under simulation threads are only in the node model, and the host's number of cores means
/// nothing.
int threads_of_a_rank(const Command& command) {
  if (command.threads > 0) return command.threads;
  const int threads = simulated() ? 1 : omp_get_max_threads();
  if (threads > most_threads) {
    throw UsageError("OpenMP is set to " + std::to_string(threads) + " threads; give at most " +
                     std::to_string(most_threads));
  }
  return threads;
}

Meter make_meter(const Command& command, const Communicator& comm, int threads) {
  Meter::Setting setting;
  if (!command.machine.empty()) setting.model = NodeModel::read(command.machine);
  if (simulated() && !setting.model) {
    throw UsageError(
        "missing --machine FILE, which a simulation needs for the cost of computation");
  }
  if (!simulated() && !command.execute) {
    throw UsageError("--execute no: only a simulated run can omit the computation");
  }
  setting.ranks_on_node = comm.ranks_on_node();
  setting.threads = threads;
  setting.execute = command.execute;
  if (simulated()) {
    if (const auto here = seat()) {
      setting.ranks_on_node = here->ranks_on_node;
      setting.ranks_on_socket = here->ranks_on_socket;
    }
    setting.slowness = Slowness(setting.model->spread(), host_name());
  }
  return Meter(std::move(setting));
}

/// Throws where a simulated case is to work in the memory of a device and the file of --machine has
/// none.
void require_device(const Kernel& kernel, const Params& params, const Meter& meter) {
  const bool has_choice =
      std::ranges::find(kernel.parameters, "memory", &Parameter::name) != kernel.parameters.end();
  if (!simulated() || !has_choice || params.choice("memory") != "device") return;
  if (!meter.model()->device()) {
    throw UsageError("memory=device: the --machine file has no device; give memory=host");
  }
}

Protocol chosen_protocol(const Kernel& kernel, const Params& params) {
  const bool barrier = params.choice("synchronisation") == "barrier";
  const auto warmup = params.integer("warmup");
  return {params.integer("repetitions"), simulated() ? std::min(warmup, simulated_warmup) : warmup,
          kernel.batched ? params.integer("steps") : 1,
          barrier ? Synchronisation::barrier : Synchronisation::round_time,
          kernel.has_parts && params.choice("parts") == "yes"};
}

/// What round_time has to say of its rounds; null where ranks start after a barrier. late_s is
/// empty where all began on time.
Json rounds_record(const Protocol& protocol, const Rounds& rounds) {
  if (protocol.synchronisation == Synchronisation::barrier) return {};
  return Json::object()
      .set("clock_error_s", rounds.clock_error_s)
      .set("repeated", rounds.repeated)
      .set("late_s", rounds.any_late ? Json(rounds.late_s) : Json::array());
}

Json point_records(const Kernel& kernel, Instance& instance, const Communicator& comm,
                   const Measurement& measured) {
  std::vector<double> bytes;
  for (const auto& work : measured.work) bytes.push_back(work.bytes);
  comm.sum_untimed(bytes);
  Json out = Json::array();
  for (std::size_t i = 0; i < measured.points.size(); ++i) {
    auto point = instance.point(i, measured.points[i]);
    require_declared(point.at("result"), kernel.point_results);
    out.push(point.set("steps", measured.points[i].steps)
                 .set("times_s", measured.points[i].seconds)
                 .set("bytes", bytes[i]));
  }
  return out;
}

Json part_records(const std::vector<PartTimes>& parts) {
  Json out = Json::array();
  for (const auto& part : parts) {
    out.push(Json::object()
                 .set("point", static_cast<std::int64_t>(part.point))
                 .set("name", part.name)
                 .set("steps", part.times.steps)
                 .set("times_s", part.times.seconds));
  }
  return out;
}

Json work_record(const Communicator& comm, const std::vector<Work>& points) {
  std::array<double, 3> total{};
  for (const auto& work : points) {
    total[0] += work.bytes;
    total[1] += work.flops;
    total[2] += work.messages;
  }
  comm.sum_untimed(total);
  return Json::object().set("bytes", total[0]).set("flops", total[1]).set("messages", total[2]);
}

Json memory_record(const Communicator& comm, const Memory& memory, double predicted_bytes) {
  const auto resident = resident_memory();
  const bool unknown = simulated() || resident.now_bytes < 0;
  std::array sums{unknown ? 1.0 : 0.0, static_cast<double>(resident.now_bytes),
                  static_cast<double>(resident.peak_bytes),
                  static_cast<double>(memory.allocated_bytes())};
  comm.sum_untimed(sums);
  const auto whole = [&sums](std::size_t i) { return static_cast<std::int64_t>(sums[i]); };
  const bool known = sums[0] == 0;
  return Json::object()
      .set("predicted_bytes", static_cast<std::int64_t>(predicted_bytes))  // 1.2e7 would be a real
      .set("allocated_bytes", whole(3))
      .set("rss_bytes", known ? Json(whole(1)) : Json())
      .set("peak_bytes", known ? Json(whole(2)) : Json());
}

Json seen_layout(const Communicator& comm) {
  Json seen = Json::array();
  for (auto& text : comm.gather(placement(comm.rank()))) seen.push(Json::verbatim(std::move(text)));
  return Json::object().set("seen", seen);
}

/// The GPU of each rank, by rank, on rank 0.
Json gpus_record(const Communicator& comm) {
  Json gpus = Json::array();
  for (auto& text : comm.gather(own_gpu())) gpus.push(Json::verbatim(std::move(text)));
  return gpus;
}

Json toolchain_record(const Environment& environment) {
  return Json::object()
      .set("mpi", library_version())
      .set("thread_level", environment.thread_level())
      .set("compiler", HALOBENCH_COMPILER)
      .set("flags", HALOBENCH_FLAGS);
}

Json timer_record() {
  if (simulated()) return {};
  const auto timer = observe_timer();
  return Json::object()
      .set("function", "MPI_Wtime")
      .set("resolution_s", timer.resolution_s)
      .set("cost_s", timer.cost_s);
}

void write(const std::string& path, const Json& record) {
  if (path.empty()) {
    std::cout << record.dump() << std::endl;
    return;
  }
  std::ofstream file(path);
  file << record.dump() << std::endl;
  if (!file) throw std::runtime_error("--out " + path + ": cannot be written");
}

}  // namespace

int run_case(const Command& command, const Environment& environment, const Communicator& comm) {
  const auto kernel = find_kernel(command.kernel);
  const int threads = threads_of_a_rank(command);
  omp_set_num_threads(simulated() ? 1 : threads);
  Plan plan;
  const auto params = accepted_params(kernel, command, comm, threads, plan);
  auto meter = make_meter(command, comm, threads);
  require_device(kernel, params, meter);
  Memory memory(simulated() && !command.execute);
  const Json layout = seen_layout(comm);

  const auto instance = kernel.setup({comm, params, meter, memory});
  const auto protocol = chosen_protocol(kernel, params);
  auto measured = measure(comm, *instance, meter, protocol);
  const auto parts = measure_parts(comm, *instance, meter, protocol);
  const auto traced = timeline(comm, *instance, meter, params.integer("timeline"), measured.reason);
  const bool good = measured.reason.empty();

  const Json result = instance->result(measured.points);
  require_declared(result, kernel.results);

  Json record = Json::object();
  record.set("schema", schema)
      .set("kernel", kernel.name)
      .set("params", params.resolved(plan.choices))
      .set("layout", layout)
      .set("toolchain", toolchain_record(environment))
      .set("clock", simulated() ? "simulated" : "wall")
      .set("outcome", good ? "ok" : "wrong")
      .set("reason", good ? Json() : Json(measured.reason))
      .set("times_s", measured.times_s)
      .set("steps", kernel.sweeps ? Json() : Json(measured.points[0].steps))
      .set("warmup", protocol.warmup)
      .set("synchronisation", params.choice("synchronisation"))
      .set("rounds", rounds_record(protocol, measured.rounds))
      .set("points",
           kernel.sweeps ? point_records(kernel, *instance, comm, measured) : Json::array())
      .set("phases", meter.summary(comm, measured.timed_steps, measured.phases_s))
      .set("parts", part_records(parts))
      .set("timeline", traced)
      .set("result", result)
      .set("work", work_record(comm, measured.work))
      .set("memory", memory_record(comm, memory, plan.memory_bytes))
      .set("timer", timer_record());
  if (const auto device = instance->device(); !device.empty()) record.set("device", device);
  if (!simulated() && comm.all(!own_gpu().empty())) record.set("gpus", gpus_record(comm));
  if (comm.rank() == 0) write(command.out, record);
  return good ? 0 : 1;
}

}  // namespace halobench

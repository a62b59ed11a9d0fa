// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/collectives/settings.hpp"

#include <algorithm>
#include <limits>

#include "base/simulation.hpp"

namespace halobench::collective {

// The root, where there is one, is rank 0.
constinit const std::array<Operation, 8> operations{{
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

std::int64_t Settings::largest(Blocks Operation::* side, std::int64_t ranks) const {
  std::int64_t most = 0;
  for (const auto& point : points) {
    most = std::max(most, count(point.operation->*side, ranks) * point.size);
  }
  return most;
}

Settings parse_settings(const Params& params) {
  const bool blocking = params.choice("call") == "blocking";
  const auto& name = params.choice("operation");
  const auto lacking = [&](const Operation& operation) {  // MPI_Ibarrier, under simulation
    return simulated() && !blocking && operation.outcome == Outcome::nothing;
  };
  Settings settings{blocking, lacking(operations[0]), {}, parse_messages(params)};
  for (const auto& operation : operations) {
    if (name == "all" ? lacking(operation) : name != operation.name) continue;
    if (operation.outcome == Outcome::nothing) {
      settings.points.push_back({&operation, 0});
    } else {
      for (const auto size : params.sizes("sizes")) settings.points.push_back({&operation, size});
    }
  }
  return settings;
}

Plan plan(const Params& params, const Shape& shape) {
  Plan plan;
  const auto settings = parse_settings(params);
  const auto& points = settings.points;
  if (settings.lacks_barrier && points[0].operation->outcome == Outcome::nothing) {
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
  const auto of_a_rank = settings.largest(&Operation::in, shape.ranks) +
                         settings.largest(&Operation::out, shape.ranks);
  plan_buffers(settings.memory, static_cast<double>(shape.ranks) * static_cast<double>(of_a_rank),
               plan);
  plan_memory(settings.memory, plan);
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
       "collective operation to time; all: each in turn",
       "",
       {},
       {},
       names},
      {"sizes", sizes, "8:1M",
       "message size. bcast, reduce, allreduce: size of the buffer on each rank; alltoall: bytes "
       "that each rank sends to each other rank; allgather, gather, scatter: bytes per rank",
       "B", 1, static_cast<double>(std::numeric_limits<int>::max())},
      Parameter::one_of("call", "blocking",
                        "type of MPI call. nonblocking: start the call, then wait immediately",
                        {"blocking", "nonblocking"}),
  };
  for (auto& one : message_parameters()) all.push_back(std::move(one));
  return all;
}

}  // namespace halobench::collective

// SPDX-License-Identifier: BSD-3-Clause
#include "machine/placement.hpp"

#include <mpi.h>
#include <omp.h>
#include <sched.h>

#include <array>
#include <set>
#include <vector>

#include "base/as_size.hpp"
#include "base/record.hpp"
#include "base/simulation.hpp"
#include "mpi/communicator.hpp"

namespace halobench {
namespace {

std::vector<int> processors_of_this_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<unsigned>(cpu), &mask)) processors.push_back(cpu);
  }
  return processors;
}

}  // namespace

std::string host_name() {
  if (simulated()) {
    if (const auto here = seat()) return here->node;
  }
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return name.data();
}

std::string placement(int rank) {
  Json out = Json::object();
  out.set("rank", rank).set("host", host_name());
  if (simulated()) return out.dump();  // the processors are those of the simulating process
  std::vector<std::vector<int>> threads(as_size(omp_get_max_threads()));
#pragma omp parallel
  threads[as_size(omp_get_thread_num())] = processors_of_this_thread();
  std::set<int> all;  // OpenMP may already have narrowed the first thread's own mask
  for (const auto& processors : threads) all.insert(processors.begin(), processors.end());
  out.set("cpus", std::vector<int>(all.begin(), all.end())).set("thread_cpus", threads);
  return out.dump();
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// What halobench's node model says of phases, for one_node.py: each line of the standard input is
//   FILE BYTES WORKING_SET_BYTES RANKS_ON_NODE THREADS
// with FILE as NodeModel::read has it, and each line of the output the seconds of a rank and the
// bytes that the memory moves for it meanwhile.
#include <cstdio>
#include <iostream>
#include <map>
#include <string>

#include "base/usage_error.hpp"
#include "machine/node_model.hpp"

using namespace halobench;

int main() try {
  std::map<std::string, NodeModel> models;
  std::string file;
  Traffic traffic;
  int ranks = 0;
  int threads = 0;
  while (std::cin >> file >> traffic.bytes >> traffic.working_set_bytes >> ranks >> threads) {
    const auto known = models.find(file);
    const auto& model = known != models.end()
                            ? known->second
                            : models.emplace(file, NodeModel::read(file)).first->second;
    const auto cost = model.cost(traffic, ranks, threads);
    std::printf("%.17g %.17g\n", cost.seconds, cost.memory_bytes);
    std::fflush(stdout);
  }
  return std::cin.eof() ? 0 : 1;
} catch (const UsageError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}

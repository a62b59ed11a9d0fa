// SPDX-License-Identifier: BSD-3-Clause
#include "device/sharing.hpp"

#include <algorithm>
#include <map>

#include "base/as_size.hpp"

namespace halobench {
namespace {

std::string crowded(std::ptrdiff_t ranks, std::ptrdiff_t gpus) {
  const auto needed = (ranks + gpus - 1) / gpus;
  return std::to_string(ranks) + " ranks on a node share " + std::to_string(gpus) +
         (gpus == 1 ? " GPU" : " GPUs") +
         "; give fewer ranks, or let ranks share a GPU: gpus_shared=" + std::to_string(needed);
}

}  // namespace

std::vector<ChosenGpu> chosen_gpus(std::span<const std::vector<std::string>> seen, int of_a_gpu) {
  std::map<std::vector<std::string>, int> before;  // ranks that see the same
  std::map<std::string, int> ranks_of;
  std::vector<ChosenGpu> chosen;
  for (const auto& gpus : seen) {
    const int number = before[gpus]++ / of_a_gpu;
    chosen.push_back({number, {}});
    if (number < std::ssize(gpus)) ++ranks_of[gpus[as_size(number)]];
  }
  for (std::size_t rank = 0; rank < seen.size(); ++rank) {
    const auto& gpus = seen[rank];
    if (gpus.empty()) {
      chosen[rank].problem = "no GPU is visible";
    } else if (chosen[rank].number >= std::ssize(gpus)) {
      chosen[rank].problem = crowded(before[gpus], std::ssize(gpus));
    } else if (const int ranks = ranks_of[gpus[as_size(chosen[rank].number)]]; ranks > of_a_gpu) {
      chosen[rank].problem = crowded(ranks, 1);
    }
  }
  return chosen;
}

}  // namespace halobench

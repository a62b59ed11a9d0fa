// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a node share its GPUs.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace halobench {

/// A rank's GPU: its number among those that the rank sees; or why there is none for it, and what
/// to do.
struct ChosenGpu {
  int number = 0;
  std::string problem;
};

/// The GPU of each rank of a node. seen: for each of these the names of the GPUs that it sees,
/// which may be all of the node's, or one of its own, as a batch system has it. of_a_gpu: ranks
/// that may have the same; ranks that see the same GPUs and follow each other do.
std::vector<ChosenGpu> chosen_gpus(std::span<const std::vector<std::string>> seen, int of_a_gpu);

}  // namespace halobench

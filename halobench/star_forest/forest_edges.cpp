// SPDX-License-Identifier: BSD-3-Clause
#include "star_forest/forest_edges.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/as_size.hpp"
#include "base/usage_error.hpp"

namespace halobench {
namespace {

std::int64_t leaf_of(std::span<const std::int64_t> leaves, std::int64_t edge) {
  return leaves.empty() ? edge : leaves[as_size(edge)];
}

/// The number of each rank in the order in which ranks turn up. Most ranks have few neighbours:
/// those of a small table are found without a search.
class Numbers {
 public:
  std::size_t of(int rank) {
    auto& [known, number] = recent_[static_cast<unsigned>(rank) % recent_.size()];
    if (known != rank) {
      known = rank;
      number = all_.try_emplace(rank, all_.size()).first->second;
    }
    return number;
  }

 private:
  struct Known {
    int rank = -1;
    std::size_t number = 0;
  };
  std::array<Known, 256> recent_{};
  std::unordered_map<int, std::size_t> all_;
};

}  // namespace

std::string own_problem(const Communicator& comm, std::span<const Root> edges,
                        std::span<const std::int64_t> leaves) {
  const auto edge_count = std::ssize(edges);
  const auto name = [&](std::int64_t edge) {
    return "leaf " + std::to_string(leaf_of(leaves, edge)) + " of rank " +
           std::to_string(comm.rank());
  };
  if (!leaves.empty() && leaves.size() != edges.size()) {
    return "rank " + std::to_string(comm.rank()) + " gives " + std::to_string(leaves.size()) +
           " leaves and " + std::to_string(edges.size()) + " roots of leaves";
  }
  for (std::int64_t i = 0; i < edge_count; ++i) {
    const auto& [rank, index] = edges[as_size(i)];
    if (rank < 0 || rank >= comm.size()) {
      return name(i) + ": its root is on rank " + std::to_string(rank) + "; there are ranks 0 to " +
             std::to_string(comm.size() - 1);
    }
    if (leaf_of(leaves, i) < 0) return name(i) + ": indices begin at 0";
  }
  if (leaves.empty() || std::ranges::is_sorted(leaves, std::less_equal{})) return {};
  std::vector<bool> seen(as_size(std::ranges::max(leaves) + 1));
  for (std::int64_t i = 0; i < edge_count; ++i) {
    const auto leaf = as_size(leaves[as_size(i)]);
    if (seen[leaf]) return name(i) + " is given twice; a leaf has one root";
    seen[leaf] = true;
  }
  return {};
}

void throw_first(const Communicator& comm, const std::string& problem) {
  int first = problem.empty() ? comm.size() : comm.rank();
  check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm.handle()), "MPI_Allreduce");
  if (first == comm.size()) return;
  int length = static_cast<int>(problem.size());
  check(MPI_Bcast(&length, 1, MPI_INT, first, comm.handle()), "MPI_Bcast");
  std::string text = problem;
  text.resize(as_size(length));
  check(MPI_Bcast(text.data(), length, MPI_CHAR, first, comm.handle()), "MPI_Bcast");
  throw UsageError("star forest: " + text);
}

std::string missing_root(const Communicator& comm, std::int64_t roots, std::span<const Root> edges,
                         std::span<const std::int64_t> leaves) {
  std::vector<std::int64_t> there(as_size(comm.size()));
  check(MPI_Allgather(&roots, 1, MPI_INT64_T, there.data(), 1, MPI_INT64_T, comm.handle()),
        "MPI_Allgather");
  for (std::int64_t i = 0; i < std::ssize(edges); ++i) {
    const auto& [rank, index] = edges[as_size(i)];
    const auto end = there[as_size(rank)];
    if (index >= 0 && index < end) continue;
    return "leaf " + std::to_string(leaf_of(leaves, i)) + " of rank " +
           std::to_string(comm.rank()) + ": its root is index " + std::to_string(index) +
           " of rank " + std::to_string(rank) + ", which has " +
           (end == 0 ? "none" : "0 to " + std::to_string(end - 1));
  }
  return {};
}

std::vector<Bundle> by_rank(std::span<const Root> edges, std::span<const std::int64_t> leaves) {
  struct Counted {
    int rank = 0;
    Sequence::Scan leaves;
    Sequence::Scan roots;
  };
  std::vector<Counted> counted;
  Numbers numbers;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto number = numbers.of(edges[i].rank);
    if (number == counted.size()) counted.push_back({edges[i].rank, {}, {}});
    counted[number].leaves.add(leaf_of(leaves, static_cast<std::int64_t>(i)));
    counted[number].roots.add(edges[i].index);
  }
  std::vector<Bundle> bundles;
  bool lists = false;
  for (const auto& [rank, own, theirs] : counted) {
    bundles.push_back({rank, Sequence(own), Sequence(theirs)});
    lists |= !own.straight || !theirs.straight;
  }
  for (std::size_t i = 0; lists && i < edges.size(); ++i) {
    auto& bundle = bundles[numbers.of(edges[i].rank)];
    bundle.leaves.append(leaf_of(leaves, static_cast<std::int64_t>(i)));
    bundle.roots.append(edges[i].index);
  }
  std::ranges::sort(bundles, {}, &Bundle::rank);
  return bundles;
}

}  // namespace halobench

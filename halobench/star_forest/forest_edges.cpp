// SPDX-License-Identifier: BSD-3-Clause
#include "star_forest/forest_edges.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/as_size.hpp"
#include "base/usage_error.hpp"

namespace halobench {
namespace {

std::int64_t leaf_of(std::span<const std::int64_t> leaves, std::size_t edge) {
  return leaves.empty() ? static_cast<std::int64_t>(edge) : leaves[edge];
}

/// The edges to one rank.
struct Star {
  std::int64_t first_leaf = 0;
  std::int64_t first_root = 0;
  std::int64_t count = 0;
  std::int64_t leaf_gaps = 0;  ///< 0: leaves are a run
  std::int64_t root_gaps = 0;
  std::int64_t* leaf = nullptr;  ///< where the next one goes; null: they are a run
  std::int64_t* root = nullptr;
};

class Stars {
 public:
  /// `body(star, begin, end)` for edges begin to end - 1, which are to one rank: a block of them
  /// where it can be, so that what long runs need stays in registers.
  template <class Body>
  void visit(std::span<const Root> edges, const Body& body) {
    for (std::size_t begin = 0; begin < edges.size(); begin += block) {
      const auto end = std::min(begin + block, edges.size());
      int differences = 0;
      for (auto i = begin; i < end; ++i) differences |= edges[i].rank ^ edges[begin].rank;
      if (differences == 0) {
        body(of(edges[begin].rank), begin, end);
      } else {
        for (auto i = begin; i < end; ++i) body(of(edges[i].rank), i, i + 1);
      }
    }
  }
  std::map<int, Star>& all() { return all_; }

 private:
  static constexpr std::size_t block = 64;

  /// Most ranks have few neighbours: those of a small table are found without a search.
  Star& of(int rank) {
    auto& [known, star] = recent_[static_cast<unsigned>(rank) % recent_.size()];
    if (star == nullptr || known != rank) {
      known = rank;
      star = &all_[rank];
    }
    return *star;
  }

  struct Known {
    int rank = 0;
    Star* star = nullptr;
  };
  std::array<Known, 256> recent_{};
  std::map<int, Star> all_;
};

}  // namespace

std::string own_problem(const Communicator& comm, std::span<const Root> edges,
                        std::span<const std::int64_t> leaves, const std::vector<Bundle>& bundles) {
  const auto name = [&](std::size_t edge) {
    return "leaf " + std::to_string(leaf_of(leaves, edge)) + " of rank " +
           std::to_string(comm.rank());
  };
  if (!leaves.empty() && leaves.size() != edges.size()) {
    return "rank " + std::to_string(comm.rank()) + " gives " + std::to_string(leaves.size()) +
           " leaves and " + std::to_string(edges.size()) + " roots of leaves";
  }
  const bool ascending = std::ranges::is_sorted(leaves, std::less_equal{});
  if (bundles.empty() || (bundles.front().rank >= 0 && bundles.back().rank < comm.size() &&
                          ascending && (leaves.empty() || leaves.front() >= 0))) {
    return {};
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto& [rank, index] = edges[i];
    if (rank < 0 || rank >= comm.size()) {
      return name(i) + ": its root is on rank " + std::to_string(rank) + "; there are ranks 0 to " +
             std::to_string(comm.size() - 1);
    }
    if (leaf_of(leaves, i) < 0) return name(i) + ": indices begin at 0";
  }
  if (ascending) return {};
  std::vector<bool> seen(as_size(std::ranges::max(leaves) + 1));
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto leaf = as_size(leaves[i]);
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
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto& [rank, index] = edges[i];
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
  if (!leaves.empty() && leaves.size() != edges.size()) return {};
  Stars stars;
  stars.visit(edges, [&](Star& star, std::size_t begin, std::size_t end) {
    if (star.count == 0) {
      star.first_leaf = leaf_of(leaves, begin);
      star.first_root = edges[begin].index;
    }
    std::int64_t leaf_gaps = 0;
    std::int64_t root_gaps = 0;
    for (auto i = begin; i < end; ++i) {
      const auto place = star.count + static_cast<std::int64_t>(i - begin);
      leaf_gaps |= leaf_of(leaves, i) - star.first_leaf - place;
      root_gaps |= edges[i].index - star.first_root - place;
    }
    star.leaf_gaps |= leaf_gaps;
    star.root_gaps |= root_gaps;
    star.count += static_cast<std::int64_t>(end - begin);
  });
  std::vector<Bundle> bundles;
  bool lists = false;
  for (auto& [rank, star] : stars.all()) {
    const auto sequence = [&](std::int64_t gaps, std::int64_t first) {
      return gaps == 0 ? Sequence::run(first, star.count) : Sequence::unset(star.count);
    };
    auto& bundle = bundles.emplace_back(rank, sequence(star.leaf_gaps, star.first_leaf),
                                        sequence(star.root_gaps, star.first_root));
    star.leaf = bundle.leaves.values();
    star.root = bundle.roots.values();
    lists |= star.leaf != nullptr || star.root != nullptr;
  }
  if (!lists) return bundles;
  stars.visit(edges, [&](Star& star, std::size_t begin, std::size_t end) {
    if (star.leaf != nullptr) {
      for (auto i = begin; i < end; ++i) *star.leaf++ = leaf_of(leaves, i);
    }
    if (star.root != nullptr) {
      for (auto i = begin; i < end; ++i) *star.root++ = edges[i].index;
    }
  });
  return bundles;
}

}  // namespace halobench

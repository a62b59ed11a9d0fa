// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spmv/distributed_csr.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "base/as_size.hpp"

namespace halobench {

/// Of one worker's rows: the offsets of their own columns from the row, each different list once,
/// behind its length.
class ColumnLists {
 public:
  /// Where the list of a row begins.
  std::size_t place(std::int64_t row, std::span<const Entry> entries, Range own) {
    offsets_.clear();
    for (const auto& entry : entries) {
      if (own.contains(entry.column)) {
        offsets_.push_back(static_cast<std::int32_t>(entry.column - row));
      }
    }
    const auto [found, is_new] = places_.try_emplace(offsets_, numbers_.size());
    if (is_new) {
      numbers_.push_back(static_cast<std::int32_t>(offsets_.size()));
      numbers_.insert(numbers_.end(), offsets_.begin(), offsets_.end());
    }
    return found->second;
  }
  const std::vector<std::int32_t>& numbers() const { return numbers_; }

 private:
  std::vector<std::int32_t> offsets_;
  std::vector<std::int32_t> numbers_;
  std::map<std::vector<std::int32_t>, std::size_t> places_;
};

namespace {

/// Different numbers, kept few: sorted again whenever there are twice as many.
class Different {
 public:
  void add(std::int64_t number) {
    numbers_.push_back(number);
    if (numbers_.size() >= limit_) settle();
  }
  std::vector<std::int64_t> sorted() {
    settle();
    return std::move(numbers_);
  }

 private:
  void settle() {
    std::ranges::sort(numbers_);
    const auto rest = std::ranges::unique(numbers_);
    numbers_.erase(rest.begin(), rest.end());
    limit_ = std::max(limit_, 2 * numbers_.size());
  }

  std::vector<std::int64_t> numbers_;
  std::size_t limit_ = std::size_t{1} << 16U;
};

/// What one worker found.
struct Found {
  CsrCounts counts;
  std::vector<std::int64_t> ghosts;
};

/// `lists`: none where columns are not shared.
Found look_at(const SparseRows& source, Range own, Range rows, ColumnLists* lists) {
  Found found;
  Different ghosts;
  source.visit(rows, [&](std::int64_t row, std::span<const Entry> entries) {
    if (lists != nullptr) lists->place(row, entries, own);
    std::int64_t outside = 0;
    for (const auto& entry : entries) {
      if (own.contains(entry.column)) continue;
      ghosts.add(entry.column);
      ++outside;
    }
    found.counts.diagonal += std::ssize(entries) - outside;
    found.counts.off_diagonal += outside;
    found.counts.coupled += outside > 0 ? 1 : 0;
  });
  found.counts.rows = rows.size();
  if (lists != nullptr) found.counts.lists = std::ssize(lists->numbers());
  found.ghosts = ghosts.sorted();
  return found;
}

}  // namespace

DistributedCsr::DistributedCsr(const Context& context, const SparseRows& source,
                               const Begins& begins, Columns columns, const SpaceMaker& make_space)
    : columns_(columns), space_(make_space(context.meter, context.memory)) {
  const auto threads = (std::ssize(begins) - 1) / context.comm.size();
  Begins rank_begins;
  for (int rank = 0; rank <= context.comm.size(); ++rank) {
    rank_begins.push_back(begins[as_size(rank * threads)]);
  }
  const auto rank = as_size(context.comm.rank());
  rows_ = {rank_begins[rank], rank_begins[rank + 1]};
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    const auto* begin = &begins[rank * as_size(threads) + as_size(thread)];
    workers_.push_back({{begin[0] - rows_.begin, begin[1] - rows_.begin}, {}});
  }
  count(source);
  const auto most = std::max({counts_.rows, counts_.ghosts, counts_.lists});
  if (!context.comm.all(most <= std::numeric_limits<std::int32_t>::max())) {
    throw UsageError("matrix: a rank has more than 2147483647 rows or ghosts; use more ranks");
  }
  auto& memory = context.memory;
  diagonal_ = {memory.allocate<std::int64_t>(counts_.rows + 1),
               memory.allocate<std::int32_t>(shared() ? 0 : counts_.diagonal),
               memory.allocate<double>(counts_.diagonal)};
  off_diagonal_ = {memory.allocate<std::int64_t>(counts_.coupled + 1),
                   memory.allocate<std::int32_t>(counts_.off_diagonal),
                   memory.allocate<double>(counts_.off_diagonal)};
  coupled_rows_ = memory.allocate<std::int32_t>(counts_.coupled);
  places_ = memory.allocate<std::int32_t>(shared() ? counts_.rows : 0);
  lists_ = memory.allocate<std::int32_t>(counts_.lists);
  if (context.meter.executes()) fill(source);
  found_lists_ = {};
  connect(context, rank_begins);
}

DistributedCsr::~DistributedCsr() = default;

void DistributedCsr::count(const SparseRows& source) {
  std::vector<Found> found(workers_.size());
  found_lists_.resize(shared() ? workers_.size() : 0);
#pragma omp parallel for schedule(static, 1)
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
    const auto rows = workers_[worker].rows;
    found[worker] = look_at(source, rows_, {rows_.begin + rows.begin, rows_.begin + rows.end},
                            shared() ? &found_lists_[worker] : nullptr);
  }
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
    const auto& own = found[worker];
    before_.push_back(counts_);
    workers_[worker].coupled = {counts_.coupled, counts_.coupled + own.counts.coupled};
    counts_.rows += own.counts.rows;
    counts_.diagonal += own.counts.diagonal;
    counts_.off_diagonal += own.counts.off_diagonal;
    counts_.coupled += own.counts.coupled;
    counts_.lists += own.counts.lists;
    std::vector<std::int64_t> joined;
    std::ranges::set_union(ghost_columns_, own.ghosts, std::back_inserter(joined));
    ghost_columns_ = std::move(joined);
  }
  counts_.ghosts = std::ssize(ghost_columns_);
}

void DistributedCsr::fill(const SparseRows& source) {
  diagonal_.begin[0] = 0;
  off_diagonal_.begin[0] = 0;
#pragma omp parallel for schedule(static, 1)
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) fill(source, worker);
}

void DistributedCsr::fill(const SparseRows& source, std::size_t worker) {
  auto at = before_[worker];
  const auto rows = workers_[worker].rows;
  if (shared()) {
    std::ranges::copy(found_lists_[worker].numbers(), lists_.data() + at.lists);
  }
  source.visit({rows_.begin + rows.begin, rows_.begin + rows.end},
               [&](std::int64_t row, std::span<const Entry> entries) {
                 const auto outside_before = at.off_diagonal;
                 if (shared()) {
                   const auto list = found_lists_[worker].place(row, entries, rows_);
                   places_[as_size(at.rows)] = static_cast<std::int32_t>(as_size(at.lists) + list);
                 }
                 for (const auto& [column, value] : entries) {
                   if (rows_.contains(column)) {
                     if (!shared()) {
                       diagonal_.columns[as_size(at.diagonal)] =
                           static_cast<std::int32_t>(column - rows_.begin);
                     }
                     diagonal_.values[as_size(at.diagonal++)] = value;
                   } else {
                     const auto ghost = std::ranges::lower_bound(ghost_columns_, column);
                     off_diagonal_.columns[as_size(at.off_diagonal)] =
                         static_cast<std::int32_t>(ghost - ghost_columns_.begin());
                     off_diagonal_.values[as_size(at.off_diagonal++)] = value;
                   }
                 }
                 if (at.off_diagonal > outside_before) {
                   coupled_rows_[as_size(at.coupled)] = static_cast<std::int32_t>(at.rows);
                   off_diagonal_.begin[as_size(++at.coupled)] = at.off_diagonal;
                 }
                 diagonal_.begin[as_size(++at.rows)] = at.diagonal;
               });
}

void DistributedCsr::connect(const Context& context, const Begins& rank_begins) {
  std::vector<Root> edges;
  edges.reserve(ghost_columns_.size());
  for (const auto column : ghost_columns_) {
    const auto owner = std::ranges::upper_bound(rank_begins, column) - rank_begins.begin() - 1;
    edges.push_back({static_cast<int>(owner), column - rank_begins[as_size(owner)]});
  }
  forest_ = std::make_unique<StarForest>(context.comm, *space_, rows_.size(), edges);
  ghost_columns_ = {};
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "star_forest/star_forest.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/as_size.hpp"
#include "base/usage_error.hpp"
#include "star_forest/link.hpp"

namespace halobench {
namespace {

constexpr std::size_t most_idle_links = 32;
constexpr std::int64_t agreed_operations = 2;  ///< the first ones of a forest

bool within(const IndexSet& set, std::int64_t end) {
  if (set.count == 0) return true;
  const auto [low, high] = set.bounds();
  return low >= 0 && high < end;
}

/// What is wrong with this rank's own bonds, or nothing.
std::string problem_of(const Communicator& comm, const std::vector<Bond>& bonds) {
  int before = -1;
  for (const auto& [rank, leaves, roots] : bonds) {
    const auto name =
        "bond of rank " + std::to_string(comm.rank()) + " with rank " + std::to_string(rank) + ": ";
    if (rank < 0 || rank >= comm.size() || rank == comm.rank()) {
      return name + "there are ranks 0 to " + std::to_string(comm.size() - 1) +
             ", and a bond is with another one";
    }
    if (rank <= before) return name + "bonds are given by rank, ascending";
    if (leaves.count == 0 || leaves.count != roots.count) {
      return name + std::to_string(leaves.count) + " leaves have " + std::to_string(roots.count) +
             " roots";
    }
    before = rank;
  }
  return {};
}

}  // namespace

StarForest::StarForest(const Communicator& comm, Space& space, std::int64_t roots,
                       std::span<const Root> edges, std::span<const std::int64_t> leaves)
    : comm_(comm.handle()), space_(space) {
  auto bundles = by_rank(edges, leaves);
  throw_first(comm_, own_problem(comm_, edges, leaves, bundles));
  const bool good = connect(roots, std::move(bundles));
  if (!comm_.all(good)) throw_first(comm_, missing_root(comm_, roots, edges, leaves));
  find_shared_root(roots);
  prepare_scatter();
}

StarForest::StarForest(const Communicator& comm, Space& space, std::int64_t roots,
                       const std::vector<Bond>& bonds)
    : comm_(comm.handle()), space_(space) {
  throw_first(comm_, problem_of(comm_, bonds));
  std::vector<Parcel> parcels;
  for (const auto& bond : bonds) {
    leaf_side_.push_back({bond.rank, packing(bond.leaves)});
    parcels.push_back({bond.rank, IndexSet::serialise(bond.roots)});
  }
  const bool good = learn_of_leaves(roots, parcels);
  throw_first(comm_, good ? ""
                          : "a root of rank " + std::to_string(comm_.rank()) +
                                " that others use does not exist: it has " + std::to_string(roots));
  find_shared_root(roots);
  prepare_scatter();
}

void StarForest::prepare_scatter() {
  scattered_.all.push_back({&local_, 0});
  space_.prepare(scattered_);
}

StarForest::~StarForest() = default;

/// Leaves know their roots; roots learn of their leaves.
bool StarForest::connect(std::int64_t roots, std::vector<Bundle> bundles) {
  std::vector<Parcel> parcels;
  for (auto& [rank, own_leaves, their_roots] : bundles) {
    if (rank == comm_.rank()) {
      local_ = route(std::move(their_roots), std::move(own_leaves));
    } else {
      leaf_side_.push_back({rank, packing(std::move(own_leaves))});
      auto description = packing(std::move(their_roots)).from;
      parcels.push_back({rank, IndexSet::serialise(std::move(description))});
    }
  }
  return learn_of_leaves(roots, parcels) && within(local_.from, roots);
}

bool StarForest::learn_of_leaves(std::int64_t roots, const std::vector<Parcel>& parcels) {
  bool good = true;
  for (auto& [rank, numbers] : sparse_exchange(comm_, parcels)) {
    root_side_.push_back({rank, packing(IndexSet::deserialise(std::move(numbers)))});
    good &= within(root_side_.back().packing.from, roots);
  }
  return good;
}

/// Every rank learns whether some root has several leaves, and where one is: nothing replaces that.
void StarForest::find_shared_root(std::int64_t roots) {
  Root shared{comm_.size(), 0};
  std::vector<const IndexSet*> sets{&local_.from};
  for (const auto& neighbour : root_side_) sets.push_back(&neighbour.packing.from);
  std::erase_if(sets, [](const IndexSet* set) { return set->count == 0; });
  const bool several = sets.size() > 1 || (sets.size() == 1 && !sets.front()->is_run());
  if (several && space_.meter().executes()) {  // otherwise no value replaces another
    std::vector<char> taken(as_size(roots));
    std::int64_t again = -1;  // without a branch, whose outcome nobody can guess
    for (const auto* set : sets) {
      set->for_each([&](std::int64_t root) {
        again = taken[as_size(root)] != 0 ? root : again;
        taken[as_size(root)] = 1;
      });
    }
    if (again >= 0) shared = {comm_.rank(), again};
  }
  check(MPI_Allreduce(MPI_IN_PLACE, &shared.rank, 1, MPI_INT, MPI_MIN, comm_.handle()),
        "MPI_Allreduce");
  if (shared.rank == comm_.size()) return;
  check(MPI_Bcast(&shared.index, 1, MPI_INT64_T, shared.rank, comm_.handle()), "MPI_Bcast");
  shared_ = shared;
}

void StarForest::bcast_begin(const Unit& unit, const void* roots, void* leaves,
                             Operation operation) {
  begin({Way::to_leaves, unit, operation, roots, leaves});
}

void StarForest::bcast_end(const Unit& unit, const void* roots, void* leaves, Operation operation) {
  end({Way::to_leaves, unit, operation, roots, leaves});
}

void StarForest::reduce_begin(const Unit& unit, const void* leaves, void* roots,
                              Operation operation) {
  if (operation == Operation::replace && shared_) {
    throw UsageError(
        "star forest: root " + std::to_string(shared_->index) + " of rank " +
        std::to_string(shared_->rank) +
        " has several leaves, which cannot all replace it; reduce with sum, min, or max");
  }
  begin({Way::to_roots, unit, operation, leaves, roots});
}

void StarForest::reduce_end(const Unit& unit, const void* leaves, void* roots,
                            Operation operation) {
  end({Way::to_roots, unit, operation, leaves, roots});
}

void StarForest::begin(const Transfer& transfer) {
  // If only time is simulated, no answer can be wrong, and SMPI's MPI_Iallreduce sends from every
  // rank to every other (SimGrid 3.32).
  const bool agree = space_.meter().executes() && begun_++ < agreed_operations;
  idle_link(transfer).begin(space_, transfer, agree);
  space_.meter().part("scatter", [&] { scatter(transfer); });
}

void StarForest::scatter(const Transfer& transfer) {
  // A copy onto itself is nothing to do.
  if (transfer.operation == Operation::replace && transfer.from == transfer.to &&
      local_.from == local_.to) {
    return;
  }
  const auto direction =
      transfer.way == Way::to_leaves ? Space::Direction::forth : Space::Direction::back;
  space_.move({scattered_, 0, 1}, direction, transfer.from, transfer.to, transfer.unit,
              transfer.operation);
}

void StarForest::run_part(Part part, const Transfer& transfer) {
  if (part == Part::scatter) return scatter(transfer);
  idle_link(transfer).run_part(space_, part, transfer);
}

void StarForest::run_bcast_part(Part part, const Unit& unit, const void* roots, void* leaves,
                                Operation operation) {
  run_part(part, {Way::to_leaves, unit, operation, roots, leaves});
}

void StarForest::run_reduce_part(Part part, const Unit& unit, const void* leaves, void* roots,
                                 Operation operation) {
  run_part(part, {Way::to_roots, unit, operation, leaves, roots});
}

void StarForest::end(const Transfer& transfer) { link_in_flight(transfer).end(space_); }

StarForest::Link& StarForest::idle_link(const Transfer& transfer) {
  for (const auto& link : links_) {
    if (link->serves(transfer)) return *link;
  }
  const auto idle = [](const auto& link) { return !link->transfer; };
  if (links_.size() >= most_idle_links) {
    const auto oldest = std::ranges::find_if(links_, idle);
    if (oldest != links_.end()) links_.erase(oldest);
  }
  return *links_.emplace_back(std::make_unique<Link>(*this, space_, transfer));
}

StarForest::Link& StarForest::link_in_flight(const Transfer& transfer) {
  bool begun_otherwise = false;
  for (const auto& link : links_) {
    if (link->transfer == transfer) return *link;
    begun_otherwise |= link->transfer && link->transfer->way == transfer.way &&
                       link->transfer->from == transfer.from && link->transfer->to == transfer.to;
  }
  const std::string name = transfer.way == Way::to_leaves ? "bcast" : "reduce";
  throw std::logic_error("star forest: " + name + "_end on rank " + std::to_string(comm_.rank()) +
                         (begun_otherwise
                              ? ": these arrays were begun with another unit or operation"
                              : ": nothing was begun with these arrays"));
}

std::int64_t StarForest::bcast_moves(Part part, Operation operation) const {
  return moves(part, Way::to_leaves, operation);
}

std::int64_t StarForest::reduce_moves(Part part, Operation operation) const {
  return moves(part, Way::to_roots, operation);
}

std::int64_t StarForest::moves(Part part, Way way, Operation operation) const {
  const auto& out = way == Way::to_leaves ? root_side_ : leaf_side_;
  const auto& in = way == Way::to_leaves ? leaf_side_ : root_side_;
  if (part == Part::scatter) return local_units();
  if (part == Part::messages) return sent(out).units;
  const bool packs = part == Part::pack;
  std::int64_t sum = 0;
  for (const auto& neighbour : packs ? out : in) {
    sum += buffered(neighbour, packs || operation == Operation::replace);
  }
  return sum;
}

std::int64_t StarForest::bcast_waits(Operation operation) const {
  return waits(Way::to_leaves, operation);
}

std::int64_t StarForest::reduce_waits(Operation operation) const {
  return waits(Way::to_roots, operation);
}

std::int64_t StarForest::waits(Way way, Operation operation) const {
  const auto* device = space_.on_device();
  if (device == nullptr) return 0;
  const auto works = [&](Part part) { return moves(part, way, operation) > 0; };
  const bool copies = device->staged();
  const auto& out = way == Way::to_leaves ? root_side_ : leaf_side_;
  const auto& in = way == Way::to_leaves ? leaf_side_ : root_side_;
  const bool before = works(Part::pack) || (copies && !out.empty());
  const bool after = works(Part::scatter) || works(Part::unpack) || (copies && !in.empty());
  const bool messages = !out.empty() || !in.empty();
  return device->waits(messages, before, after || (device->by_stream() && (before || messages)));
}

std::int64_t StarForest::buffered(const Neighbour& neighbour, bool runs_whole) {
  const auto& set = neighbour.packing.from;
  return runs_whole && set.is_run() ? 0 : set.count;
}

Sent StarForest::sent(const Side& side) {
  Sent sum{std::ssize(side), 0};
  for (const auto& neighbour : side) sum.units += neighbour.packing.from.count;
  return sum;
}

}  // namespace halobench

#include "mpi/star_forest.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "mpi/sparse_exchange.hpp"
#include "params.hpp"

namespace halobench {
namespace {

using Direction = HostSpace::Direction;

constexpr int tag = 2;
constexpr std::size_t most_idle_links = 32;

std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t leaf_of(std::span<const std::int64_t> leaves, std::int64_t edge) {
  return leaves.empty() ? edge : leaves[place(edge)];
}

/// What is wrong with this rank's own input, or nothing.
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
    const auto& [rank, index] = edges[place(i)];
    if (rank < 0 || rank >= comm.size()) {
      return name(i) + ": its root is on rank " + std::to_string(rank) + "; there are ranks 0 to " +
             std::to_string(comm.size() - 1);
    }
    if (leaf_of(leaves, i) < 0) return name(i) + ": indices begin at 0";
  }
  if (leaves.empty() || std::ranges::is_sorted(leaves, std::less_equal{})) return {};
  std::vector<bool> seen(place(std::ranges::max(leaves) + 1));
  for (std::int64_t i = 0; i < edge_count; ++i) {
    const auto leaf = place(leaves[place(i)]);
    if (seen[leaf]) return name(i) + " is given twice; a leaf has one root";
    seen[leaf] = true;
  }
  return {};
}

/// Throws the problem of the lowest rank that has one, on every rank.
void throw_first(const Communicator& comm, const std::string& problem) {
  int first = problem.empty() ? comm.size() : comm.rank();
  check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm.handle()), "MPI_Allreduce");
  if (first == comm.size()) return;
  int length = static_cast<int>(problem.size());
  check(MPI_Bcast(&length, 1, MPI_INT, first, comm.handle()), "MPI_Bcast");
  std::string text = problem;
  text.resize(place(length));
  check(MPI_Bcast(text.data(), length, MPI_CHAR, first, comm.handle()), "MPI_Bcast");
  throw UsageError("star forest: " + text);
}

/// The first leaf whose root is not there, in words. Only the way to an error message: every rank
/// learns how many roots every other has.
std::string missing_root(const Communicator& comm, std::int64_t roots, std::span<const Root> edges,
                         std::span<const std::int64_t> leaves) {
  std::vector<std::int64_t> there(place(comm.size()));
  check(MPI_Allgather(&roots, 1, MPI_INT64_T, there.data(), 1, MPI_INT64_T, comm.handle()),
        "MPI_Allgather");
  for (std::int64_t i = 0; i < std::ssize(edges); ++i) {
    const auto& [rank, index] = edges[place(i)];
    const auto end = there[place(rank)];
    if (index >= 0 && index < end) continue;
    return "leaf " + std::to_string(leaf_of(leaves, i)) + " of rank " +
           std::to_string(comm.rank()) + ": its root is index " + std::to_string(index) +
           " of rank " + std::to_string(rank) + ", which has " +
           (end == 0 ? "none" : "0 to " + std::to_string(end - 1));
  }
  return {};
}

bool within(const IndexSet& set, std::int64_t end) {
  if (set.count == 0) return true;
  const auto [low, high] = set.bounds();
  return low >= 0 && high < end;
}

/// Edges to one rank, in their order.
struct Bundle {
  int rank = 0;
  std::size_t count = 0;
  std::vector<std::int64_t> leaves;
  std::vector<std::int64_t> roots;
};

/// Edges by the rank of their root, in rank order.
std::vector<Bundle> by_rank(std::span<const Root> edges, std::span<const std::int64_t> leaves) {
  std::vector<Bundle> bundles;
  std::unordered_map<int, std::uint32_t> found;
  std::vector<std::uint32_t> bundle_of(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto rank = edges[i].rank;
    if (i > 0 && rank == edges[i - 1].rank) {  // mostly so
      bundle_of[i] = bundle_of[i - 1];
    } else {
      const auto next = static_cast<std::uint32_t>(bundles.size());
      bundle_of[i] = found.try_emplace(rank, next).first->second;
      if (bundle_of[i] == next) bundles.push_back({rank, 0, {}, {}});
    }
    ++bundles[bundle_of[i]].count;
  }
  struct Cursor {
    std::int64_t* leaf;
    std::int64_t* root;
  };
  std::vector<Cursor> cursors;
  for (auto& bundle : bundles) {
    bundle.leaves.resize(bundle.count);
    bundle.roots.reserve(bundle.count + 1);  // and what serialise() adds to a list
    bundle.roots.resize(bundle.count);
    cursors.push_back({bundle.leaves.data(), bundle.roots.data()});
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    auto& [leaf, root] = cursors[bundle_of[i]];
    *leaf++ = leaf_of(leaves, static_cast<std::int64_t>(i));
    *root++ = edges[i].index;
  }
  std::ranges::sort(bundles, {}, &Bundle::rank);
  return bundles;
}

const std::byte* at(const void* array, std::int64_t index, const Unit& unit) {
  return static_cast<const std::byte*>(array) + index * unit.bytes();
}

std::byte* at(void* array, std::int64_t index, const Unit& unit) {
  return static_cast<std::byte*>(array) + index * unit.bytes();
}

}  // namespace

/// The buffers and requests of one operation in flight, kept for the next one like it.
class StarForest::Link {
 public:
  Link(const StarForest& forest, HostSpace& space, const Transfer& first)
      : comm_(forest.comm_.handle()),
        out_(first.way == Way::to_leaves ? forest.root_side_ : forest.leaf_side_),
        in_(first.way == Way::to_leaves ? forest.leaf_side_ : forest.root_side_),
        way_(first.way),
        unit_(first.unit),
        in_place_(first.operation == Operation::replace) {
    const auto sent_whole = [](const Neighbour& n) { return n.packing.from.is_run(); };
    lay_out(out_, sent_whole, space, send_memory_, packed_);
    lay_out(
        in_, [&](const Neighbour& n) { return in_place_ && sent_whole(n); }, space, receive_memory_,
        received_);
    into_ = std::ranges::find(received_, nullptr) != received_.end() ? first.to : nullptr;
    sends_.assign(out_.size(), MPI_REQUEST_NULL);
    receives_.assign(in_.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const auto& set = in_[i].packing.from;
      void* target = received_[i] != nullptr ? received_[i] : at(into_, set.first(), unit_);
      check(MPI_Recv_init(target, count(set), unit_.mpi_type(), in_[i].rank, tag, comm_,
                          &receives_[i]),
            "MPI_Recv_init");
    }
  }

  ~Link() {
    if (transfer) {
      MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), MPI_STATUSES_IGNORE);
      MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    }
    for (auto& request : receives_) {
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Whether requests and buffers serve this one too.
  bool serves(const Transfer& next) const {
    return !transfer && way_ == next.way && unit_ == next.unit &&
           in_place_ == (next.operation == Operation::replace) &&
           (into_ == nullptr || into_ == next.to);
  }

  void begin(HostSpace& space, const Transfer& next) {
    transfer = next;
    if (receives_.size() == 1) {
      check(MPI_Start(receives_.data()), "MPI_Start");
    } else if (!receives_.empty()) {  // none to start is an error
      check(MPI_Startall(static_cast<int>(receives_.size()), receives_.data()), "MPI_Startall");
    }
    for (std::size_t i = 0; i < out_.size(); ++i) {
      if (packed_[i] == nullptr) continue;
      space.move(out_[i].packing, Direction::forth, next.from, packed_[i], unit_,
                 Operation::replace);
    }
    space.synchronise();
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const auto& set = out_[i].packing.from;
      const auto* source = packed_[i] != nullptr ? packed_[i] : at(next.from, set.first(), unit_);
      check(MPI_Isend(source, count(set), unit_.mpi_type(), out_[i].rank, tag, comm_, &sends_[i]),
            "MPI_Isend");
    }
  }

  /// Messages are taken in the order of their ranks, so that sums are the same every time.
  void end(HostSpace& space) {
    for (std::size_t i = 0; i < in_.size(); ++i) {
      check(MPI_Wait(&receives_[i], MPI_STATUS_IGNORE), "MPI_Wait");
      if (received_[i] == nullptr) continue;
      space.move(in_[i].packing, Direction::back, received_[i], transfer->to, unit_,
                 transfer->operation);
    }
    for (auto& request : sends_) check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    space.synchronise();
    transfer.reset();
  }

  std::optional<Transfer> transfer;  ///< in flight

 private:
  int count(const IndexSet& set) const { return message_count(set.count * unit_.width()); }

  /// A place in `memory` for every neighbour whose message is not whole in the caller's own.
  template <class Whole>
  void lay_out(const Side& side, const Whole& whole, HostSpace& space, Buffer<std::byte>& memory,
               std::vector<std::byte*>& places) const {
    std::int64_t units = 0;
    for (const auto& neighbour : side) units += whole(neighbour) ? 0 : neighbour.packing.from.count;
    if (units > 0) memory = space.allocate(units * unit_.bytes());
    auto* next = memory.data();
    for (const auto& neighbour : side) {
      places.push_back(whole(neighbour) ? nullptr : next);
      if (!whole(neighbour)) next += neighbour.packing.from.count * unit_.bytes();
    }
  }

  MPI_Comm comm_;
  const Side& out_;
  const Side& in_;
  Way way_;
  Unit unit_;
  bool in_place_;         ///< runs are received where they belong
  void* into_ = nullptr;  ///< the caller's array that receives refer to
  Buffer<std::byte> send_memory_;
  Buffer<std::byte> receive_memory_;
  std::vector<std::byte*> packed_;    ///< for each of out_; none: it goes out of the caller's array
  std::vector<std::byte*> received_;  ///< for each of in_; none: it comes into the caller's array
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
};

StarForest::StarForest(const Communicator& comm, HostSpace space, std::int64_t roots,
                       std::span<const Root> edges, std::span<const std::int64_t> leaves)
    : comm_(comm.handle()), space_(space) {
  throw_first(comm_, own_problem(comm_, edges, leaves));
  connect(roots, edges, leaves);
  find_shared_root(roots);
}

StarForest::~StarForest() = default;

/// Leaves know their roots; roots learn of their leaves.
void StarForest::connect(std::int64_t roots, std::span<const Root> edges,
                         std::span<const std::int64_t> leaves) {
  std::vector<Parcel> parcels;
  for (auto& [rank, count, own_leaves, their_roots] : by_rank(edges, leaves)) {
    if (rank == comm_.rank()) {
      local_ = route(std::move(their_roots), std::move(own_leaves));
    } else {
      leaf_side_.push_back({rank, packing(std::move(own_leaves))});
      auto description = packing(std::move(their_roots)).from;
      parcels.push_back({rank, IndexSet::serialise(std::move(description))});
    }
  }
  bool good = within(local_.from, roots);
  for (auto& [rank, numbers] : sparse_exchange(comm_, parcels)) {
    root_side_.push_back({rank, packing(IndexSet::deserialise(std::move(numbers)))});
    good &= within(root_side_.back().packing.from, roots);
  }
  if (!comm_.all(good)) throw_first(comm_, missing_root(comm_, roots, edges, leaves));
}

/// Every rank learns whether some root has several leaves, and where the first is: nothing replaces
/// that.
void StarForest::find_shared_root(std::int64_t roots) {
  Root shared{comm_.size(), 0};
  std::vector<const IndexSet*> sets{&local_.from};
  for (const auto& neighbour : root_side_) sets.push_back(&neighbour.packing.from);
  std::erase_if(sets, [](const IndexSet* set) { return set->count == 0; });
  if (sets.size() > 1 || (sets.size() == 1 && !sets.front()->is_run())) {
    std::vector<bool> taken(place(roots));
    for (const auto* set : sets) {
      set->for_each([&](std::int64_t root) {
        if (taken[place(root)]) shared = {comm_.rank(), root};
        taken[place(root)] = true;
      });
    }
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
        " has several leaves, which can't all replace it; reduce with sum, min or max");
  }
  begin({Way::to_roots, unit, operation, leaves, roots});
}

void StarForest::reduce_end(const Unit& unit, const void* leaves, void* roots,
                            Operation operation) {
  end({Way::to_roots, unit, operation, leaves, roots});
}

void StarForest::begin(const Transfer& transfer) {
  idle_link(transfer).begin(space_, transfer);
  // A copy onto itself is nothing to do.
  if (transfer.operation == Operation::replace && transfer.from == transfer.to &&
      local_.from == local_.to) {
    return;
  }
  const auto direction = transfer.way == Way::to_leaves ? Direction::forth : Direction::back;
  space_.move(local_, direction, transfer.from, transfer.to, transfer.unit, transfer.operation);
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

Sent StarForest::sent(const Side& side) {
  Sent sum{std::ssize(side), 0};
  for (const auto& neighbour : side) sum.units += neighbour.packing.from.count;
  return sum;
}

}  // namespace halobench

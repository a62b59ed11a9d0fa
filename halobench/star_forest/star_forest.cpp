#include "star_forest/star_forest.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/as_size.hpp"
#include "base/usage_error.hpp"
#include "device/simulated.hpp"
#include "star_forest/device_space.hpp"

namespace halobench {
namespace {

using Direction = Space::Direction;

constexpr std::size_t most_idle_links = 32;
constexpr std::int64_t agreed_operations = 2;  ///< the first ones of a forest

bool within(const IndexSet& set, std::int64_t end) {
  if (set.count == 0) return true;
  const auto [low, high] = set.bounds();
  return low >= 0 && high < end;
}

const std::byte* at(const void* array, std::int64_t index, const Unit& unit) {
  return static_cast<const std::byte*>(array) + index * unit.bytes();
}

std::byte* at(void* array, std::int64_t index, const Unit& unit) {
  return static_cast<std::byte*>(array) + index * unit.bytes();
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

/// The buffers of the messages to one side's neighbours, or from them.
struct StarForest::Messages {
  /// `runs_whole`: those that are runs lie in the caller's own array.
  Messages(const Side& side, bool runs_whole, const Unit& unit, Space& space) {
    std::int64_t units = 0;
    std::vector<std::int64_t> begins;  // of each message, in the buffer
    for (const auto& neighbour : side) {
      const auto own = buffered(neighbour, runs_whole);
      begins.push_back(own == 0 ? -1 : units);
      if (own > 0) routes.all.push_back({&neighbour.packing, units});
      units += own;
    }
    if (units > 0) memory = space.allocate_bytes(units * unit.bytes(), Pages::huge);
    for (const auto begin : begins) {
      places.push_back(begin < 0 ? nullptr : memory.data() + begin * unit.bytes());
    }
    space.prepare(routes);
    auto* device = space.on_device();
    if (device != nullptr && device->staged()) lay_out_stage(side, unit, *device);
  }

  bool staged() const { return stage.data() != nullptr; }

  Buffer<std::byte> memory;
  std::vector<std::byte*> places;  ///< for each neighbour; none: it is in the caller's array
  Routes routes;                   ///< from the caller's array to these places
  Buffer<std::byte> stage;         ///< the host's, where MPI has no other: as `memory`, then runs
  std::vector<std::byte*> stages;  ///< for each neighbour

 private:
  void lay_out_stage(const Side& side, const Unit& unit, DeviceSpace& device) {
    std::int64_t units = 0;
    for (const auto& neighbour : side) units += neighbour.packing.from.count;
    stage = device.allocate_stage(units * unit.bytes());
    auto* next = stage.data() + memory.size();
    for (std::size_t i = 0; i < side.size(); ++i) {
      if (places[i] != nullptr) {
        stages.push_back(stage.data() + (places[i] - memory.data()));
      } else {
        stages.push_back(next);
        next += side[i].packing.from.count * unit.bytes();
      }
    }
  }
};

/// The buffers and requests of one operation in flight, kept for the next one like it.
class StarForest::Link {
 public:
  Link(const StarForest& forest, Space& space, const Transfer& first)
      : comm_(forest.comm_.handle()),
        out_(first.way == Way::to_leaves ? forest.root_side_ : forest.leaf_side_),
        in_(first.way == Way::to_leaves ? forest.leaf_side_ : forest.root_side_),
        device_(space.on_device()),
        packed_(device_ != nullptr ? device_->device().new_event() : Event{}),
        way_(first.way),
        unit_(first.unit),
        in_place_(first.operation == Operation::replace),
        sent_(out_, true, unit_, space),
        received_(in_, in_place_, unit_, space) {
    const auto& places = received_.places;
    into_ = std::ranges::find(places, nullptr) != places.end() ? first.to : nullptr;
    sends_.assign(out_.size(), MPI_REQUEST_NULL);
    receives_.assign(in_.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const auto& set = in_[i].packing.from;
      void* target = places[i] != nullptr ? places[i] : at(into_, set.first(), unit_);
      if (device_ != nullptr) {
        target = received_.staged() ? received_.stages[i] : device_->for_mpi(target);
      }
      targets_.push_back(target);
      if (by_stream()) {
        arriving_.push_back({target, bytes(set), in_[i].rank});
        continue;
      }
      check(MPI_Recv_init(target, count(set), unit_.mpi_type(), in_[i].rank, MPI_ANY_TAG, comm_,
                          &receives_[i]),
            "MPI_Recv_init");
    }
  }

  ~Link() {
    if (transfer) {
      MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), MPI_STATUSES_IGNORE);
      MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
      MPI_Wait(&agreement_, MPI_STATUS_IGNORE);
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

  /// `agree`: all ranks compare what they begin.
  void begin(Space& space, const Transfer& next, bool agree) {
    transfer = next;
    tag_ = tag_of(next);
    if (device_ != nullptr) return begin_on_device(space, agree);
    auto& meter = space.meter();
    meter.part("receive", [&] { start_receives(); });
    meter.part("pack", [&] { pack(space, next); });
    meter.part("send", [&] { send(next); });
    if (agree) compare();
  }

  /// Messages are taken in the order of their ranks, so that sums are the same every time.
  void end(Space& space) {
    auto& meter = space.meter();
    if (device_ != nullptr) {
      end_on_device(space);
    } else {
      std::size_t unpacked = 0;
      for (std::size_t i = 0; i < in_.size(); ++i) {
        meter.part("wait", [&] { receive(i); });
        if (received_.places[i] == nullptr) continue;
        meter.part("unpack", [&] { unpack(space, *transfer, unpacked++, 1); });
      }
      meter.part("complete", [&] { complete_sends(); });
    }
    if (agreement_ != MPI_REQUEST_NULL) conclude();
    transfer.reset();
  }

  /// Only that part, of an operation that has been run before.
  void run_part(Space& space, Part part, const Transfer& next) {
    tag_ = tag_of(next);
    if (part == Part::pack) pack(space, next);
    if (part == Part::messages && by_stream()) {
      exchange(next);
    } else if (part == Part::messages) {
      if (sent_.staged()) copy_out(next);
      if (device_ != nullptr) {
        if (device_->late()) device_->mark_packed(packed_);
        device_->before_messages(packed_);
      }
      start_receives();
      send(next);
      for (std::size_t i = 0; i < in_.size(); ++i) receive(i);
      if (received_.staged()) copy_in(next);
      complete_sends();
    }
    if (part == Part::unpack) unpack(space, next, 0, received_.routes.all.size());
  }

  std::optional<Transfer> transfer;  ///< in flight

 private:
  static int tag_of(const Transfer& next) {
    return halobench::tag_of(next.way, next.unit, next.operation);
  }

  bool by_stream() const { return device_ != nullptr && device_->by_stream(); }

  void begin_on_device(Space& space, bool agree) {
    auto& meter = space.meter();
    meter.part("synchronise", [&] { device_->before_pack(transfer->from, transfer->to); });
    meter.part("pack", [&] { pack(space, *transfer); });
    if (sent_.staged()) meter.part("copy out", [&] { copy_out(*transfer); });
    if (by_stream()) {
      if (agree) {  // before streams wait for what never comes, nor while others wait for this one
        space.synchronise();
        compare();
        conclude();
      }
      return meter.part("send", [&] { exchange(*transfer); });
    }
    agree_ = agree;
    if (!device_->late()) return begin_messages(meter);
    device_->mark_packed(packed_);
  }

  /// What is unpacked and read on a device is waited for together with what was packed.
  void begin_messages(Meter& meter) {
    meter.part("synchronise", [&] { device_->before_messages(packed_); });
    meter.part("receive", [&] { start_receives(); });
    meter.part("send", [&] { send(*transfer); });
    if (agree_) compare();
  }

  /// All messages at once, as a device takes long to begin.
  void end_on_device(Space& space) {
    auto& meter = space.meter();
    if (device_->late()) begin_messages(meter);
    if (!by_stream()) {
      for (std::size_t i = 0; i < in_.size(); ++i) meter.part("wait", [&] { receive(i); });
    }
    if (received_.staged()) meter.part("copy in", [&] { copy_in(*transfer); });
    meter.part("unpack", [&] { unpack(space, *transfer, 0, received_.routes.all.size()); });
    if (!by_stream()) meter.part("complete", [&] { complete_sends(); });
    meter.part("synchronise", [&] { device_->after_unpack(); });
  }

  void compare() {
    agreed_ = {tag_, -tag_};
    check(MPI_Iallreduce(MPI_IN_PLACE, agreed_.data(), 2, MPI_INT, MPI_MAX, comm_, &agreement_),
          "MPI_Iallreduce");
  }

  void start_receives() {
    if (receives_.size() == 1) {
      check(MPI_Start(receives_.data()), "MPI_Start");
    } else if (!receives_.empty()) {  // none to start is an error
      check(MPI_Startall(static_cast<int>(receives_.size()), receives_.data()), "MPI_Startall");
    }
  }

  void pack(Space& space, const Transfer& next) {
    const auto& routes = sent_.routes;
    if (routes.all.empty()) return;
    space.move({routes, 0, routes.all.size()}, Direction::forth, next.from, sent_.memory.data(),
               unit_, Operation::replace);
  }

  /// Messages to where MPI takes them from; those that were packed lie side by side.
  void copy_out(const Transfer& next) {
    const auto packed = std::ssize(sent_.memory.span());
    if (packed > 0) device_->stage_out(sent_.memory.data(), sent_.stage.data(), packed);
    for (std::size_t i = 0; i < out_.size(); ++i) {
      if (sent_.places[i] != nullptr) continue;
      const auto& set = out_[i].packing.from;
      device_->stage_out(at(next.from, set.first(), unit_), sent_.stages[i], bytes(set));
    }
  }

  /// Messages from where MPI has put them.
  void copy_in(const Transfer& next) {
    const auto packed = std::ssize(received_.memory.span());
    if (packed > 0) device_->stage_in(received_.stage.data(), received_.memory.data(), packed);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      if (received_.places[i] != nullptr) continue;
      const auto& set = in_[i].packing.from;
      device_->stage_in(received_.stages[i], at(next.to, set.first(), unit_), bytes(set));
    }
  }

  /// Where a message is that was packed, or needs no packing.
  const void* packed_at(std::size_t i, const Transfer& next) const {
    if (sent_.places[i] != nullptr) return sent_.places[i];
    return at(next.from, out_[i].packing.from.first(), unit_);
  }

  /// All messages, those that are received too, given to the device's stream behind what is packed.
  void exchange(const Transfer& next) {
    leaving_.clear();
    for (std::size_t i = 0; i < out_.size(); ++i) {
      auto* source = const_cast<void*>(device_->for_mpi(packed_at(i, next)));  // is only read
      leaving_.push_back({source, bytes(out_[i].packing.from), out_[i].rank});
    }
    device_->exchange(leaving_, arriving_);
  }

  void send(const Transfer& next) {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const auto& set = out_[i].packing.from;
      const void* source = packed_at(i, next);
      if (device_ != nullptr) {
        source = sent_.staged() ? sent_.stages[i] : device_->for_mpi(source);
      }
      const MessagePlace place(source);
      check(MPI_Isend(source, count(set), unit_.mpi_type(), out_[i].rank, tag_, comm_, &sends_[i]),
            "MPI_Isend");
    }
  }

  void receive(std::size_t i) {
    MPI_Status status;
    status.MPI_TAG = tag_;
    const MessagePlace place(targets_[i]);
    const int code = MPI_Wait(&receives_[i], &status);  // an error where the message is longer
    if (status.MPI_TAG != tag_) {
      give_up(i + 1);
      refuse("rank " + std::to_string(in_[i].rank) + " began " + said_by(status.MPI_TAG) +
             " where this rank began " + said_by(tag_));
    }
    check(code, "MPI_Wait");
  }

  /// So many of the messages that are no runs in place, in their order.
  void unpack(Space& space, const Transfer& next, std::size_t first, std::size_t many) {
    if (many == 0) return;
    space.move({received_.routes, first, many}, Direction::back, received_.memory.data(), next.to,
               unit_, next.operation);
  }

  void complete_sends() {
    for (auto& request : sends_) check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  }

  void conclude() {
    check(MPI_Wait(&agreement_, MPI_STATUS_IGNORE), "MPI_Wait");
    if (agreed_[0] == -agreed_[1]) return;
    refuse("some ranks began " + said_by(agreed_[0]) + ", others " + said_by(-agreed_[1]));
  }

  /// Nothing may arrive in memory that is gone: from receive `next` on, none is waited for, as
  /// their senders may never send. The agreement is, as all ranks begin it.
  void give_up(std::size_t next) {
    for (; next < receives_.size(); ++next) {
      check(MPI_Cancel(&receives_[next]), "MPI_Cancel");
      check(MPI_Wait(&receives_[next], MPI_STATUS_IGNORE), "MPI_Wait");
    }
    check(MPI_Wait(&agreement_, MPI_STATUS_IGNORE), "MPI_Wait");
  }

  [[noreturn]] void refuse(const std::string& why) {
    transfer.reset();
    throw std::logic_error("star forest: " + why + "; all ranks begin the same operations");
  }

  int count(const IndexSet& set) const { return message_count(set.count * unit_.width()); }

  std::int64_t bytes(const IndexSet& set) const { return set.count * unit_.bytes(); }

  MPI_Comm comm_;
  const Side& out_;
  const Side& in_;
  DeviceSpace* device_;  ///< null where all is in the host's memory
  Event packed_;         ///< on a device
  Way way_;
  Unit unit_;
  bool in_place_;         ///< runs are received where they belong
  void* into_ = nullptr;  ///< the caller's array that receives refer to
  Messages sent_;
  Messages received_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
  std::vector<const void*> targets_;              ///< of these
  std::vector<StreamMessages::Message> leaving_;  ///< of a device's stream, which has no requests
  std::vector<StreamMessages::Message> arriving_;
  int tag_ = 0;
  std::array<int, 2> agreed_{};  ///< the largest tag, and the smallest negated
  MPI_Request agreement_ = MPI_REQUEST_NULL;
  bool agree_ = false;  ///< when late messages begin
};

StarForest::StarForest(const Communicator& comm, Space& space, std::int64_t roots,
                       std::span<const Root> edges, std::span<const std::int64_t> leaves)
    : comm_(comm.handle()), space_(space) {
  throw_first(comm_, own_problem(comm_, edges, leaves));
  connect(roots, edges, leaves);
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
                                " that others want is not there: it has " + std::to_string(roots));
  find_shared_root(roots);
  prepare_scatter();
}

void StarForest::prepare_scatter() {
  scattered_.all.push_back({&local_, 0});
  space_.prepare(scattered_);
}

StarForest::~StarForest() = default;

/// Leaves know their roots; roots learn of their leaves.
void StarForest::connect(std::int64_t roots, std::span<const Root> edges,
                         std::span<const std::int64_t> leaves) {
  std::vector<Parcel> parcels;
  for (auto& [rank, own_leaves, their_roots] : by_rank(edges, leaves)) {
    if (rank == comm_.rank()) {
      local_ = route(std::move(their_roots), std::move(own_leaves));
    } else {
      leaf_side_.push_back({rank, packing(std::move(own_leaves))});
      auto description = packing(std::move(their_roots)).from;
      parcels.push_back({rank, IndexSet::serialise(std::move(description))});
    }
  }
  const bool good = learn_of_leaves(roots, parcels) && within(local_.from, roots);
  if (!comm_.all(good)) throw_first(comm_, missing_root(comm_, roots, edges, leaves));
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
  if (sets.size() > 1 || (sets.size() == 1 && !sets.front()->is_run())) {
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
        " has several leaves, which can't all replace it; reduce with sum, min or max");
  }
  begin({Way::to_roots, unit, operation, leaves, roots});
}

void StarForest::reduce_end(const Unit& unit, const void* leaves, void* roots,
                            Operation operation) {
  end({Way::to_roots, unit, operation, leaves, roots});
}

void StarForest::begin(const Transfer& transfer) {
  // Where time alone is simulated there is no answer to be wrong, and SMPI's MPI_Iallreduce sends
  // from every rank to every other (SimGrid 3.32).
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
  const auto direction = transfer.way == Way::to_leaves ? Direction::forth : Direction::back;
  space_.move({scattered_, 0, 1}, direction, transfer.from, transfer.to, transfer.unit,
              transfer.operation);
}

void StarForest::run_part(Part part, const Transfer& transfer) {
  if (part == Part::scatter) {
    scatter(transfer);
  } else {
    idle_link(transfer).run_part(space_, part, transfer);
  }
  space_.synchronise();
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

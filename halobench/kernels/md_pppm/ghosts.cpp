// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/md_pppm/ghosts.hpp"

#include <algorithm>
#include <limits>

#include "base/as_size.hpp"

namespace halobench::md {
namespace {

constexpr std::size_t none = Atoms::swaps;

double number(std::int64_t count) { return static_cast<double>(count); }

std::int64_t largest_message(const Atoms& atoms) {
  std::int64_t most = 1;
  for (std::size_t swap = 0; swap < Atoms::swaps; ++swap) {
    most = std::max(most, border_values * atoms.sent(swap));
    most = std::max(most, 2 * mover_values * atoms.movers(Atoms::axis(swap)));
  }
  return most;
}

}  // namespace

void swap_values(const Communicator& comm, const double* out, std::int64_t sent, int to, double* in,
                 std::int64_t received, int from) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (received > 0) {
    check(MPI_Irecv(in, message_count(received), MPI_DOUBLE, from, 0, comm.handle(), &request),
          "MPI_Irecv");
  }
  if (sent > 0) {
    check(MPI_Send(out, message_count(sent), MPI_DOUBLE, to, 0, comm.handle()), "MPI_Send");
  }
  check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

Ghosts::Ghosts(const Context& context, const System& system, Phases& phases)
    : meter_(context.meter),
      comm_(context.comm),
      system_(system),
      phases_(phases),
      atoms_(system, context.meter.executes()) {
  const auto all = atoms_.owned() + atoms_.ghosts();
  atom_ = context.memory.allocate<double>(all);
  position_ = context.memory.allocate<double>(position_values * all);
  force_ = context.memory.allocate<double>(force_values * all);
  out_ = context.memory.allocate<double>(largest_message(atoms_));
  in_ = context.memory.allocate<double>(largest_message(atoms_));
  if (!meter_.executes()) return;
  partner_.assign(as_size(atoms_.owned()), {none, 0});
  for (std::size_t swap = 0; swap < Atoms::swaps; ++swap) {
    const auto& here = atoms_.moving(swap);
    const auto& there = atoms_.moving(swap ^ 1U);
    for (std::size_t i = 0; i < here.size(); ++i) partner_[as_size(here[i])] = {swap, there[i]};
  }
  for (std::int64_t slot = 0; slot < atoms_.owned(); ++slot) {
    atom_[as_size(slot)] = atom_at(comm_.rank(), slot);
  }
}

double Ghosts::memory(const Atoms& atoms) {
  const auto of_an_atom = 1 + position_values + force_values;
  return 8 * number(of_an_atom * (atoms.owned() + atoms.ghosts()) + 2 * largest_message(atoms));
}

int Ghosts::neighbour(std::size_t axis, int direction) const {
  return system_.bricks().neighbour(comm_.rank(), axis, direction);
}

/// Atoms move to a neighbour and back again, build by build, into the place of the one that comes
/// the other way.
double Ghosts::atom_at(std::int64_t rank, std::int64_t slot) const {
  const auto [swap, other] = partner_[as_size(slot)];
  if (rebuilds_ % 2 == 0 || swap == none) return number(rank * atoms_.owned() + slot);
  const auto from = system_.bricks().neighbour(rank, Atoms::axis(swap), Atoms::direction(swap));
  return number(from * atoms_.owned() + other);
}

std::int64_t Ghosts::owner(const Ghost& ghost) const {
  std::int64_t rank = comm_.rank();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (int left = ghost.bricks[axis]; left != 0; left -= left > 0 ? 1 : -1) {
      rank = system_.bricks().neighbour(rank, axis, left > 0 ? 1 : -1);
    }
  }
  return rank;
}

void Ghosts::pack(Phase& phase, std::size_t swap, std::int64_t values, const Buffer<double>& from) {
  const auto count = values * atoms_.sent(swap);
  meter_.compute(phase, {.bytes = 16 * number(count), .stored_bytes = 8 * number(count)}, [&] {
    double* to = out_.data();
    for (const auto index : atoms_.list(swap)) {
      const double* atom = from.data() + index * values;
      to = std::copy(atom, atom + values, to);
    }
  });
}

void Ghosts::send(Phase& phase, int to, std::int64_t sent, int from, std::int64_t received) {
  meter_.communicate(
      phase, [&] { swap_values(comm_, out_.data(), sent, to, in_.data(), received, from); });
  if (sent > 0) phases_.ledger.add(phase.name, to, 8 * number(sent));
}

/// As LAMMPS does before messages whose length the other side can't know; here it can, and checks.
void Ghosts::send_count(Phase& phase, int to, std::int64_t sent, int from, std::int64_t received) {
  int out = message_count(sent);
  int in = -1;
  meter_.communicate(phase, [&] {
    check(MPI_Sendrecv(&out, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, comm_.handle(),
                       MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  });
  phases_.ledger.add(phase.name, to, sizeof(int));
  if (in == received || !wrong_count_.empty()) return;
  wrong_count_ = "rank " + std::to_string(from) + " has " + std::to_string(in) +
                 " values for rank " + std::to_string(comm_.rank()) + ", not " +
                 std::to_string(received);
}

void Ghosts::rebuild() {
  for (std::size_t axis = 0; axis < 3; ++axis) migrate(axis);
  ++rebuilds_;
  for (std::size_t swap = 0; swap < Atoms::swaps; ++swap) border(swap);
}

/// All that leave along an axis go to both neighbours in one message, and each takes its own.
void Ghosts::migrate(std::size_t axis) {
  const auto ranks = system_.bricks().extent(axis);
  if (ranks == 1) return;
  const auto count = atoms_.movers(axis);
  const auto values = 2 * count * mover_values;
  meter_.compute(phases_.pack, {.bytes = 16 * number(values), .stored_bytes = 8 * number(values)},
                 [&] {
                   double* to = out_.data();
                   for (const auto swap : {2 * axis, 2 * axis + 1}) {
                     for (const auto slot : atoms_.moving(swap)) {
                       std::fill_n(to, mover_values, atom_[as_size(slot)]);
                       to += mover_values;
                     }
                   }
                 });
  const int lower = neighbour(axis, -1);
  const int upper = neighbour(axis, 1);
  send_count(phases_.movers, lower, values, upper, values);
  if (ranks > 2) send_count(phases_.movers, upper, values, lower, values);
  send(phases_.movers, lower, values, upper, values);
  take(axis, 0, -1);
  if (ranks == 2) {
    take(axis, count, 1);
    return;
  }
  send(phases_.movers, upper, values, lower, values);
  take(axis, count, 1);
}

/// Those that moved in a direction, from the first of them in the message: where the ones were that
/// moved the other way.
void Ghosts::take(std::size_t axis, std::int64_t first, int direction) {
  if (!meter_.executes()) return;
  const double* from = in_.data() + first * mover_values;
  for (const auto slot : atoms_.moving(direction < 0 ? 2 * axis + 1 : 2 * axis)) {
    atom_[as_size(slot)] = *from;
    from += mover_values;
  }
}

void Ghosts::border(std::size_t swap) {
  const auto sent = border_values * atoms_.sent(swap);
  meter_.compute(phases_.pack, {.bytes = 16 * number(sent), .stored_bytes = 8 * number(sent)}, [&] {
    double* to = out_.data();
    for (const auto index : atoms_.list(swap)) {
      std::fill_n(to, border_values, atom_[as_size(index)]);
      to += border_values;
    }
  });
  const int to = neighbour(Atoms::axis(swap), Atoms::direction(swap));
  const int from = neighbour(Atoms::axis(swap), -Atoms::direction(swap));
  const bool alone = to == comm_.rank();
  if (!alone) {
    send_count(phases_.borders, to, atoms_.sent(swap), from, atoms_.sent(swap));
    send(phases_.borders, to, sent, from, sent);
  }
  meter_.compute(phases_.pack, {.bytes = 16 * number(sent), .stored_bytes = 8 * number(sent)}, [&] {
    const double* came = alone ? out_.data() : in_.data();
    for (std::int64_t i = 0; i < atoms_.sent(swap); ++i) {
      atom_[as_size(atoms_.first(swap) + i)] = came[i * border_values];
    }
  });
}

void Ghosts::forward(Phase& phase, Phase& packing) {
  ++forwards_;
  if (meter_.executes()) {
    for (std::int64_t slot = 0; slot < atoms_.owned(); ++slot) {
      double* at = position_.data() + position_values * slot;
      at[0] = atom_[as_size(slot)];
      at[1] = number(forwards_);
      at[2] = number(comm_.rank());
    }
  }
  for (std::size_t swap = 0; swap < Atoms::swaps; ++swap) {
    pack(packing, swap, position_values, position_);
    const auto values = position_values * atoms_.sent(swap);
    const int to = neighbour(Atoms::axis(swap), Atoms::direction(swap));
    const int from = neighbour(Atoms::axis(swap), -Atoms::direction(swap));
    const bool alone = to == comm_.rank();
    if (!alone) send(phase, to, values, from, values);
    meter_.compute(
        packing, {.bytes = 16 * number(values), .stored_bytes = 8 * number(values)}, [&] {
          const double* came = alone ? out_.data() : in_.data();
          std::copy_n(came, values, position_.data() + position_values * atoms_.first(swap));
        });
  }
}

/// Every ghost has one for each: a count, its atom, and who holds it.
void Ghosts::reverse() {
  if (meter_.executes()) {
    std::fill_n(force_.data(), force_values * atoms_.owned(), 0.0);
    for (auto i = atoms_.owned(); i < atoms_.owned() + atoms_.ghosts(); ++i) {
      double* on = force_.data() + force_values * i;
      on[0] = 1;
      on[1] = atom_[as_size(i)];
      on[2] = number(comm_.rank() + 1);
    }
  }
  for (std::size_t swap = Atoms::swaps; swap-- > 0;) {
    const auto values = force_values * atoms_.sent(swap);
    const double* ghosts = force_.data() + force_values * atoms_.first(swap);
    const int to = neighbour(Atoms::axis(swap), -Atoms::direction(swap));
    const int from = neighbour(Atoms::axis(swap), Atoms::direction(swap));
    const bool alone = to == comm_.rank();
    if (!alone) {
      meter_.communicate(phases_.comm,
                         [&] { swap_values(comm_, ghosts, values, to, in_.data(), values, from); });
      if (values > 0) phases_.ledger.add(phases_.comm.name, to, 8 * number(values));
    }
    meter_.compute(phases_.pack, {.bytes = 24 * number(values), .stored_bytes = 8 * number(values)},
                   [&] {
                     const double* came = alone ? ghosts : in_.data();
                     for (const auto index : atoms_.list(swap)) {
                       double* on = force_.data() + force_values * index;
                       for (std::int64_t i = 0; i < force_values; ++i) on[i] += *came++;
                     }
                   });
  }
}

std::string Ghosts::fault() const {
  if (!wrong_count_.empty()) return wrong_count_;
  const auto owned = atoms_.owned();
  const auto wrong = [this](const std::string& what, std::int64_t which) {
    return what + " " + std::to_string(which) + " of rank " + std::to_string(comm_.rank());
  };
  std::vector<std::array<double, force_values>> expected(as_size(owned));
  for (std::int64_t i = 0; i < atoms_.ghosts(); ++i) {
    const auto& ghost = atoms_.images()[as_size(i)];
    const auto from = owner(ghost);
    const double atom = atom_at(from, ghost.slot);
    const double* at = position_.data() + position_values * (owned + i);
    if (atom_[as_size(owned + i)] != atom) return wrong("wrong atom in ghost", i);
    if (at[0] != atom || at[1] != number(forwards_) || at[2] != number(from)) {
      return wrong("wrong position of ghost", i);
    }
    auto holder = ghost;
    for (auto& bricks : holder.bricks) bricks = static_cast<std::int8_t>(-bricks);
    auto& sum = expected[as_size(ghost.slot)];
    sum[0] += 1;
    sum[1] += atom_[as_size(ghost.slot)];
    sum[2] += number(owner(holder) + 1);
  }
  for (std::int64_t slot = 0; slot < owned; ++slot) {
    if (atom_[as_size(slot)] != atom_at(comm_.rank(), slot)) return wrong("missing atom", slot);
    const double* on = force_.data() + force_values * slot;
    if (!std::equal(on, on + force_values, expected[as_size(slot)].begin())) {
      return wrong("wrong sum of ghost forces for atom", slot);
    }
  }
  return {};
}

}  // namespace halobench::md

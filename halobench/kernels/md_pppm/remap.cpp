// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/md_pppm/remap.hpp"

#include <algorithm>

#include "kernels/md_pppm/boxes.hpp"

namespace halobench::md {
namespace {

constexpr std::int64_t many_messages = 64;    ///< of a rank in one remap
constexpr std::int64_t enough_messages = 16;  ///< that stand for many

std::int64_t values_of(const auto& pieces) {
  return pieces.empty() ? 0 : pieces.back().first + pieces.back().count;
}

/// Of how many messages one is sent: a prime that does not divide the ranks, so that it picks
/// evenly from any regular pattern of them; 1 where there are few.
std::int64_t share_of(std::int64_t messages, std::int64_t ranks) {
  if (messages <= many_messages) return 1;
  for (const std::int64_t prime : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31}) {
    if (messages <= prime * enough_messages && ranks % prime != 0) return prime;
  }
  return 1;
}

}  // namespace

Remap::Remap(const Context& context, const System& system, Layout from, Layout to,
             std::int64_t values, bool once)
    : comm_(context.comm),
      meter_(context.meter),
      values_(values),
      from_(system.part(from, comm_.rank())),
      to_(system.part(to, comm_.rank())),
      kept_(common(from_, to_)),
      sent_(pieces(system, to, from_, 1)),
      received_(pieces(system, from, to_, -1)) {
  if (!once) return;
  const auto most = comm_.max(static_cast<double>(sent_.size()));
  stands_for_ = share_of(static_cast<std::int64_t>(most), comm_.size());
  if (stands_for_ == 1 || !meter_.executes()) return;
  throw UsageError(
      "alike=once: with this number of messages some are extrapolated without data; omit "
      "--execute, or give alike=each");
}

/// What others' parts have in common with one's own: upwards from the next rank's, or downwards.
std::vector<Remap::Piece> Remap::pieces(const System& system, Layout others, const Box& own,
                                        int direction) const {
  std::vector<Piece> found;
  for (int step = 1; step < comm_.size(); ++step) {
    const int rank = (comm_.rank() + direction * step + comm_.size()) % comm_.size();
    const auto box = common(own, system.part(others, rank));
    const auto count = values_ * points(box);
    if (count > 0) found.push_back({rank, box, values_of(found), count});
  }
  return found;
}

std::int64_t Remap::buffer_values(const System& system, std::int64_t rank, Layout from, Layout to,
                                  std::int64_t values) {
  const auto before = system.part(from, rank);
  const auto after = system.part(to, rank);
  return values * (points(before) + points(after) - 2 * points(common(before, after)));
}

void Remap::run(Phases& phases, const double* from, double* to, double* buffer) const {
  const auto out = static_cast<double>(values_of(sent_) + values_ * points(kept_));
  meter_.compute(phases.grid_pack, {.bytes = 16 * out, .stored_bytes = 8 * out}, [&] {
    for (const auto& piece : sent_) {
      gather(from, from_, piece.box, values_, buffer + piece.first);
    }
    copy(from, from_, to, to_, kept_, values_);
  });
  meter_.communicate(phases.remap, [&] {
    if (stands_for_ == 1) return exchange(buffer);
    const auto mark = meter_.mark();
    exchange(buffer);
    meter_.repeat_since(mark, static_cast<double>(stands_for_ - 1), comm_);
  });
  for (const auto& piece : sent_) {
    phases.ledger.add(phases.remap.name, piece.rank, 8 * static_cast<double>(piece.count));
  }
  const auto in = static_cast<double>(values_of(received_));
  meter_.compute(phases.grid_pack, {.bytes = 16 * in, .stored_bytes = 8 * in}, [&] {
    const double* came = buffer + values_of(sent_);
    for (const auto& piece : received_) {
      scatter(came + piece.first, to, to_, piece.box, values_);
    }
  });
}

/// As LAMMPS does; but simulated, a message leaves when the one before it is there: hundreds of
/// each rank on their way at a time took five times as long to simulate, and a step 1 % longer (512
/// ranks on 64 nodes of stampede).
void Remap::exchange(double* buffer) const {
  std::vector<MPI_Request> requests;
  double* came = buffer + values_of(sent_);
  for (const auto& piece : received_) {
    if (!goes(piece)) continue;
    auto& request = requests.emplace_back(MPI_REQUEST_NULL);
    check(MPI_Irecv(came + piece.first, message_count(piece.count), MPI_DOUBLE, piece.rank, 0,
                    comm_.handle(), &request),
          "MPI_Irecv");
  }
  for (const auto& piece : sent_) {
    if (!goes(piece)) continue;
    const auto send = simulated() ? MPI_Ssend : MPI_Send;
    check(send(buffer + piece.first, message_count(piece.count), MPI_DOUBLE, piece.rank, 0,
               comm_.handle()),
          "MPI_Send");
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
}

}  // namespace halobench::md

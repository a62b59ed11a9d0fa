// SPDX-License-Identifier: BSD-3-Clause
// Halos of several layers, corners included, of r and p: what a rank needs to go on for several
// iterations alone.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "kernels/poisson_cg/domain.hpp"

namespace halobench::cg {

/// Two exchanges: rows with the ranks above and below, then columns, with the rows that have come,
/// with those to the left and right. So corners arrive without messages of their own.
class DeepHalo {
 public:
  /// As deep as the domain's cut says.
  DeepHalo(const Context& context, const Domain& domain, ExchangeMode mode);

  /// One after the other: send each pass's edges, then take what has come.
  static constexpr std::size_t passes = 2;
  HaloExchange& exchange(std::size_t pass) { return *passes_[pass].exchange; }
  void pack(std::size_t pass) const;
  void unpack(std::size_t pass) const;
  /// Fills the halos between the strips of this rank; after both passes.
  void join() const;

  std::int64_t messages() const;
  /// Doubles sent and received in both passes.
  double doubles() const { return doubles_; }

  /// Memory of all ranks' buffers.
  static double memory_bytes(const Cut& cut);

 private:
  /// A part of the edge that is in one strip: what goes out from there, and where the halo is.
  struct Piece {
    const Strip* strip;
    Rectangle out;
    Rectangle in;
    double* send = nullptr;
    double* receive = nullptr;
  };
  struct Pass {
    std::vector<Piece> pieces;
    std::unique_ptr<HaloExchange> exchange;
  };

  Neighbour meet(Memory& memory, int rank, std::vector<Piece> side, Pass& pass);
  std::vector<Piece> columns(int rank, Range out, Range in) const;

  const Domain& domain_;
  std::vector<Buffer<double>> buffers_;
  std::array<Pass, passes> passes_;
  double doubles_ = 0;
};

}  // namespace halobench::cg

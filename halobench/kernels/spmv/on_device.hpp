// SPDX-License-Identifier: BSD-3-Clause
// The products of a distributed matrix on a device, each given to a stream.
#pragma once

#include <cstdint>

#include "kernels/spmv/distributed_csr.hpp"
#include "machine/node_model.hpp"
#include "star_forest/device_space.hpp"

namespace halobench {

/// The blocks of a matrix and its vectors in a device's memory, and what is done with them there:
/// on the stream of those who use star forests, but for the off-diagonal block's product into a
/// vector of its own, which has another stream and may be done at the same time (Zhang, Mills and
/// Smith 2020, figure 12 c).
class ProductsOnDevice {
 public:
  /// `matrix` may be gone when it returns.
  ProductsOnDevice(DeviceSpace& space, const DistributedCsr& matrix, bool temporary);

  double* x() const { return x_.data(); }
  double* ghosts() const { return ghosts_.data(); }

  /// Values of the host's, as many as the matrix has rows and ghosts.
  void set(const double* x, const double* y, const double* ghosts);
  void fetch(double* y) const;

  /// y = diagonal block times x.
  void diagonal(const Traffic& traffic);
  /// y += off-diagonal block times ghosts, which are there; or what is to be added, on the other
  /// stream.
  void off_diagonal(const Traffic& traffic);
  /// y += that.
  void add(const Traffic& traffic);

  /// Returns when y is there.
  void synchronise() const { space_.device().synchronise(space_.users_stream()); }

 private:
  struct Block {
    SpaceArray<std::int64_t> begin;
    SpaceArray<std::int32_t> columns;
    SpaceArray<double> values;
  };

  template <class Value>
  SpaceArray<Value> placed(const Value* values, std::int64_t count);
  template <class Value>
  Value* reach(const SpaceArray<Value>& array) const;
  Csr view(const Block& block) const;

  DeviceSpace& space_;
  CsrCounts counts_;
  bool temporary_;
  Stream beside_;       ///< of the product into a vector of its own
  Event ghosts_there_;  ///< where they are copied from the host's memory
  Event product_there_;
  Block diagonal_;
  Block off_diagonal_;
  SpaceArray<std::int32_t> coupled_rows_;
  SpaceArray<double> x_;
  SpaceArray<double> y_;
  SpaceArray<double> ghosts_;
  SpaceArray<double> z_;  ///< what is to be added
};

}  // namespace halobench

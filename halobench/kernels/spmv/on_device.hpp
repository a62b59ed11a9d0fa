// SPDX-License-Identifier: BSD-3-Clause
// The products of a distributed matrix on a device, each given to a stream.
#pragma once

#include <memory>

#include "kernels/spmv/distributed_csr.hpp"
#include "machine/node_model.hpp"

namespace halobench {

class DeviceSpace;

/// The blocks of a matrix and its vectors in a device's memory, and what is done with them there:
/// on the stream of those who use star forests, but for the off-diagonal block's product into a
/// vector of its own, which has another stream and may be done at the same time (Zhang, Mills and
/// Smith 2020, figure 12 c).
class ProductsOnDevice {
 public:
  virtual ~ProductsOnDevice() = default;

  virtual double* x() const = 0;
  virtual double* ghosts() const = 0;

  /// Values of the host's, as many as the matrix has rows and ghosts.
  virtual void set(const double* x, const double* y, const double* ghosts) = 0;
  virtual void fetch(double* y) const = 0;

  /// y = diagonal block times x.
  virtual void diagonal(const Traffic& traffic) = 0;
  /// y += off-diagonal block times ghosts, which are there; or what is to be added, on the other
  /// stream.
  virtual void off_diagonal(const Traffic& traffic) = 0;
  /// y += that.
  virtual void add(const Traffic& traffic) = 0;

  /// Returns when y is there.
  virtual void synchronise() const = 0;
};

/// `matrix` may be gone when it returns; `temporary`: the off-diagonal block's product has a vector
/// of its own. Only in programs that have devices.
[[gnu::weak]] std::unique_ptr<ProductsOnDevice> products_on_device(DeviceSpace& space,
                                                                   const DistributedCsr& matrix,
                                                                   bool temporary);

}  // namespace halobench

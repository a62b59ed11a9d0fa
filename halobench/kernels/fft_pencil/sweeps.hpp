// SPDX-License-Identifier: BSD-3-Clause
// The transforms of a rank's own lines, and the copies between pencils and what is sent.
#pragma once

#include <memory>

#include "kernel.hpp"
#include "kernels/fft_pencil/store.hpp"

namespace halobench::fft {

/// One-dimensional transforms of all lines that a rank has along an axis; along y and z by groups
/// of planes, so that these can travel group by group.
class Sweeps {
 public:
  Sweeps(const Context& context, const Store& store, Planning planning)
      : context_(context), store_(store), planning_(planning) {}
  virtual ~Sweeps() = default;
  Sweeps(const Sweeps&) = delete;
  Sweeps& operator=(const Sweeps&) = delete;

  /// Real values to what goes to the columns; where there is one column, along y too, to what goes
  /// to the rows.
  virtual void forward_z(const Range& planes) = 0;
  /// What came from the columns to what goes to the rows. Only where there are several columns.
  virtual void forward_y(const Range& planes) = 0;
  /// The spectrum, in place.
  virtual void forward_x() = 0;
  virtual void backward_x() = 0;
  /// As forward_y and forward_z, the other way.
  virtual void backward_y(const Range& planes) = 0;
  virtual void backward_z(const Range& planes) = 0;

  /// Bytes that all of them together read and write, and their operations.
  virtual double bytes() const = 0;
  double flops() const;

 protected:
  const Pencils& pencils() const { return store_.pencils(); }
  bool one_column() const { return pencils().columns == 1; }
  /// Threads of this rank.
  std::int64_t threads() const { return context_.meter.threads(); }

  /// Coefficients of all lines along an axis; along y and z those of so many planes.
  double coefficients_z(const Range& planes) const;
  double coefficients_y(const Range& planes) const;
  double coefficients_x() const;
  /// Bytes of real values in so many planes.
  double real_bytes(const Range& planes) const;
  /// Of transforms, 5 n log2 n a complex line of n points and half of it a real one: the field's
  /// usual count.
  double flops_z(const Range& planes) const;
  double flops_y(const Range& planes) const;
  double flops_x() const;
  /// Half of the bytes are written.
  Traffic traffic(double bytes, double flops) const;

  const Context context_;
  const Store& store_;
  const Planning planning_;
};

/// What takes the lines: the parameter `layout`.
///   blocked: as many lines at a time as the cache holds, copied there, transformed, and copied
///            straight to their place in what is sent.
///   strided: whole arrays as they lie, with a stride along y and x; what is sent is packed, and
///            what is received unpacked, in sweeps of their own, as in textbooks.
enum class Layout { blocked, strided };

std::unique_ptr<Sweeps> make_sweeps(Layout layout, const Context& context, const Store& store,
                                    Planning planning);

/// Bytes that the sweeps of all ranks need besides the store's.
double sweep_memory(Layout layout, const Pencils& pencils, std::int64_t threads);

}  // namespace halobench::fft

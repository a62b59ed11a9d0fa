// SPDX-License-Identifier: BSD-3-Clause
// Transforms over whole arrays as they lie, as textbooks have them.
#pragma once

#include "kernels/fft_pencil/sweeps.hpp"

namespace halobench::fft {

class Strided : public Sweeps {
 public:
  Strided(const Context& context, const Store& store, Planning planning);

  void forward_z(const Range& planes) override;
  void forward_y(const Range& planes) override;
  void forward_x() override;
  void backward_x() override;
  void backward_y(const Range& planes) override;
  void backward_z(const Range& planes) override;
  double bytes() const override;

  static double memory(const Pencils& pencils);

 private:
  /// A plane of z pencils (y, then all kz), and of y pencils (all ky, then kz).
  Complex* z_plane(std::int64_t plane) const;
  Complex* y_plane(std::int64_t plane) const;

  void transform_y(const Range& planes, const FftwPlan& plan, Phase& phase) const;
  void transform_x(const FftwPlan& plan, Phase& phase) const;
  /// Runs copy_plane(plane) for each, which moves so many coefficients in all.
  template <class Copy>
  void copy(const Range& planes, double coefficients, Phase& phase, const Copy& copy_plane) const;

  Phase& forward_z_;
  Phase& forward_y_;
  Phase& forward_x_;
  Phase& pack_;
  Phase& unpack_;
  Phase& backward_x_;
  Phase& backward_y_;
  Phase& backward_z_;
  Buffer<Complex> z_;  ///< z pencils; those along y where there is one column
  Buffer<Complex> y_;  ///< y pencils; the spectrum where there is one row
  FftwPlan to_complex_;
  FftwPlan along_y_;
  FftwPlan along_x_;
  FftwPlan back_along_x_;
  FftwPlan back_along_y_;
  FftwPlan to_real_;
};

}  // namespace halobench::fft

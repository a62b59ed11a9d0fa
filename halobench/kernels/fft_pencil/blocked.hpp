// SPDX-License-Identifier: BSD-3-Clause
// As many lines at a time as the cache holds: copied there, transformed, copied to their place.
#pragma once

#include <vector>

#include "kernels/fft_pencil/blocks.hpp"
#include "kernels/fft_pencil/sweeps.hpp"

namespace halobench::fft {

class Blocked : public Sweeps {
 public:
  Blocked(const Context& context, const Store& store, Planning planning);

  void forward_z(const Range& planes) override;
  void forward_y(const Range& planes) override;
  void forward_x() override;
  void backward_x() override;
  void backward_y(const Range& planes) override;
  void backward_z(const Range& planes) override;
  double bytes() const override;

  static double memory(const Pencils& pencils, std::int64_t threads);

 private:
  /// The calling thread's.
  Complex* scratch() const;

  // Of one plane; in the thread's own memory where a line is not made where it is to be.
  void rows_to_complex(std::int64_t plane) const;
  void rows_to_real(std::int64_t plane) const;
  void forward_block(std::int64_t plane, std::int64_t block) const;
  void backward_block(std::int64_t plane, std::int64_t block) const;
  /// What of a plane comes from, or goes to, each column (near) or each row (far).
  enum class Runs { near, far };
  /// Runs body(rows along y, their first coefficient) for each.
  template <class Body>
  void each_run(Runs runs, std::int64_t plane, const Body& body) const;
  void gather(Runs from, std::int64_t plane, std::int64_t block) const;
  void scatter(Runs to, std::int64_t plane, std::int64_t block) const;
  template <class Transform>
  void along_x(Phase& phase, const Transform& transform) const;
  template <class Transform>
  void along_y(const Range& planes, Phase& phase, const Transform& transform) const;

  Phase* forward_z_ = nullptr;
  Phase* forward_y_ = nullptr;
  Phase* forward_zy_ = nullptr;  ///< in place of both, where there is one column
  Phase* forward_x_ = nullptr;
  Phase* backward_x_ = nullptr;
  Phase* backward_yz_ = nullptr;
  Phase* backward_y_ = nullptr;
  Phase* backward_z_ = nullptr;
  Blocks y_;
  Blocks x_;
  FftwPlan to_complex_;
  FftwPlan to_real_;
  std::vector<Buffer<Complex>> scratch_;  ///< of each thread
};

}  // namespace halobench::fft

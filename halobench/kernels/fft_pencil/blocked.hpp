// As many lines at a time as the cache holds: copied there, transformed, copied to their place.
#pragma once

#include <vector>

#include "kernels/fft_pencil/sweeps.hpp"

namespace halobench::fft {

/// Lines along an axis, taken a block at a time: blocks as even as can be, so of two widths.
class Blocks {
 public:
  Blocks() = default;
  /// `lines` next to each other, of `size` points.
  Blocks(std::int64_t lines, std::int64_t size);

  std::int64_t count() const { return count_; }
  /// The lines of a block.
  Range lines(std::int64_t block) const { return share({0, lines_}, count_, block); }
  std::int64_t widest() const { return lines_ == 0 ? 0 : lines(0).size(); }
  /// Coefficients of the widest.
  std::int64_t values() const { return widest() * size_; }

  /// Plans with `memory`, of values() coefficients, one direction or the other.
  void plan(Complex* memory, Planning planning);
  /// In place: a block's points lie widest first, lines within.
  void forward(std::int64_t block, Complex* memory) const { run(forward_, block, memory); }
  void backward(std::int64_t block, Complex* memory) const { run(backward_, block, memory); }

 private:
  struct Plans {
    FftwPlan wide;
    FftwPlan narrow;
  };
  void run(const Plans& plans, std::int64_t block, Complex* memory) const;

  std::int64_t lines_ = 0;
  std::int64_t size_ = 0;
  std::int64_t count_ = 0;
  Plans forward_;
  Plans backward_;
};

class Blocked : public Sweeps {
 public:
  Blocked(const Context& context, const Store& store);

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
  void copy_in(Runs from, std::int64_t plane, const Range& lines) const;
  void copy_out(Runs to, std::int64_t plane, const Range& lines) const;
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

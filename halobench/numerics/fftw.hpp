// SPDX-License-Identifier: BSD-3-Clause
// FFTW, looked for when a program runs: whatever else halobench measures needs no FFTW.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>

namespace halobench {

using Complex = std::complex<double>;

/// What FFTW calls itself, as "fftw-3.3.10-sse2-avx". Empty where there is none.
std::string fftw_version();
/// Why FFTW is missing, and the remedy; empty where it is available. HALOBENCH_FFTW names its file;
/// else it is where the dynamic loader looks for libraries.
std::string fftw_missing();

/// How long FFTW may try algorithms before it takes one (its own words: estimate tries none).
enum class Planning { estimate, measure, patient };

/// Many one-dimensional transforms of `size` points alike, in memory: element i of transform k lies
/// at i * stride + k * distance, counted in values of that side.
struct Transforms {
  std::int64_t size = 1;
  std::int64_t count = 1;
  struct Side {
    std::int64_t stride = 1;
    std::int64_t distance = 0;
  };
  Side in;
  Side out;
};

/// An algorithm that FFTW chose; runs on any arrays that lie as those it was planned with, from any
/// thread. Nothing is scaled: forward and then backward multiplies by `size`.
class FftwPlan {
 public:
  FftwPlan() = default;  ///< none; not to be run

  // Planning writes over what the arrays hold. They may be the same for complex transforms alone.
  static FftwPlan forward(const Transforms& asked, Complex* in, Complex* out, Planning planning);
  static FftwPlan backward(const Transforms& asked, Complex* in, Complex* out, Planning planning);
  /// size / 2 + 1 coefficients a transform; `in` is kept.
  static FftwPlan to_complex(const Transforms& asked, double* in, Complex* out, Planning planning);
  /// Writes over `in`.
  static FftwPlan to_real(const Transforms& asked, Complex* in, double* out, Planning planning);
  /// Of a whole array, last axis fastest; `in` is kept.
  static FftwPlan whole_to_complex(const std::array<std::int64_t, 3>& size, double* in,
                                   Complex* out);

  void run(Complex* in, Complex* out) const;
  void run(double* in, Complex* out) const;
  void run(Complex* in, double* out) const;

 private:
  using Handle = std::unique_ptr<void, void (*)(void*)>;
  explicit FftwPlan(void* handle);

  Handle handle_{nullptr, nullptr};
};

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "numerics/fftw.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "base/usage_error.hpp"

namespace halobench {
namespace {

// What FFTW's manual declares (section 4), by which it is called: no header is needed.
using FftwComplex = double[2];
constexpr int sign_forward = -1;
constexpr int sign_backward = 1;
constexpr unsigned destroy_input = 1U << 0U;
constexpr unsigned unaligned = 1U << 1U;
constexpr unsigned preserve_input = 1U << 4U;
constexpr unsigned patient = 1U << 5U;
constexpr unsigned estimate = 1U << 6U;

struct Library {
  void* (*plan_many_dft)(int, const int*, int, FftwComplex*, const int*, int, int, FftwComplex*,
                         const int*, int, int, int, unsigned) = nullptr;
  void* (*plan_many_dft_r2c)(int, const int*, int, double*, const int*, int, int, FftwComplex*,
                             const int*, int, int, unsigned) = nullptr;
  void* (*plan_many_dft_c2r)(int, const int*, int, FftwComplex*, const int*, int, int, double*,
                             const int*, int, int, unsigned) = nullptr;
  void* (*plan_dft_r2c)(int, const int*, double*, FftwComplex*, unsigned) = nullptr;
  void (*execute_dft)(void*, FftwComplex*, FftwComplex*) = nullptr;
  void (*execute_dft_r2c)(void*, double*, FftwComplex*) = nullptr;
  void (*execute_dft_c2r)(void*, FftwComplex*, double*) = nullptr;
  void (*destroy_plan)(void*) = nullptr;
  const char* version = nullptr;
  std::string missing;
};

template <class Pointer>
void find(void* handle, const char* name, Pointer& pointer, std::string& missing) {
  pointer = reinterpret_cast<Pointer>(dlsym(handle, name));
  if (pointer == nullptr && missing.empty()) missing = std::string("it has no ") + name;
}

Library load() {
  Library found;
  const char* named = std::getenv("HALOBENCH_FFTW");
  const std::string file = named != nullptr && *named != '\0' ? named : "libfftw3.so.3";
  const std::string remedy =
      "; install FFTW 3 (Debian: libfftw3-double3; without root: haloscope toolchain add fftw), or "
      "name its library in HALOBENCH_FFTW";
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    found.missing = "FFTW cannot be loaded: " + (why != nullptr ? std::string(why) : file) + remedy;
    return found;
  }
  std::string lacks;
  find(handle, "fftw_plan_many_dft", found.plan_many_dft, lacks);
  find(handle, "fftw_plan_many_dft_r2c", found.plan_many_dft_r2c, lacks);
  find(handle, "fftw_plan_many_dft_c2r", found.plan_many_dft_c2r, lacks);
  find(handle, "fftw_plan_dft_r2c", found.plan_dft_r2c, lacks);
  find(handle, "fftw_execute_dft", found.execute_dft, lacks);
  find(handle, "fftw_execute_dft_r2c", found.execute_dft_r2c, lacks);
  find(handle, "fftw_execute_dft_c2r", found.execute_dft_c2r, lacks);
  find(handle, "fftw_destroy_plan", found.destroy_plan, lacks);
  find(handle, "fftw_version", found.version, lacks);
  if (!lacks.empty()) found.missing = file + " is not double-precision FFTW 3: " + lacks + remedy;
  return found;
}

/// The library, loaded once.
const Library& library() {
  static const Library loaded = load();
  return loaded;
}

const Library& needed() {
  if (!library().missing.empty()) throw UsageError(library().missing);
  return library();
}

unsigned flags_of(Planning planning) {
  if (planning == Planning::measure) return 0;
  return planning == Planning::patient ? patient : estimate;
}

int as_int(std::int64_t number) {
  if (number < 0 || number > std::numeric_limits<int>::max()) {
    throw UsageError("a transform over " + std::to_string(number) +
                     " values: the limit of FFTW is 2^31 - 1; use more ranks or smaller sizes");
  }
  return static_cast<int>(number);
}

FftwComplex* raw(Complex* values) { return reinterpret_cast<FftwComplex*>(values); }

/// A transform's numbers as FFTW takes them.
struct Numbers {
  explicit Numbers(const Transforms& asked)
      : size(as_int(asked.size)),
        count(as_int(asked.count)),
        in_stride(as_int(asked.in.stride)),
        in_distance(as_int(asked.in.distance)),
        out_stride(as_int(asked.out.stride)),
        out_distance(as_int(asked.out.distance)) {}

  int size, count, in_stride, in_distance, out_stride, out_distance;
};

void* plan_complex(const Transforms& asked, Complex* in, Complex* out, int sign, unsigned flags) {
  const Numbers n(asked);
  return needed().plan_many_dft(1, &n.size, n.count, raw(in), nullptr, n.in_stride, n.in_distance,
                                raw(out), nullptr, n.out_stride, n.out_distance, sign, flags);
}

}  // namespace

std::string fftw_version() { return library().missing.empty() ? library().version : ""; }

std::string fftw_missing() { return library().missing; }

FftwPlan::FftwPlan(void* handle) : handle_(handle, library().destroy_plan) {
  if (handle == nullptr) throw std::runtime_error("FFTW has no plan for this transform");
}

FftwPlan FftwPlan::forward(const Transforms& asked, Complex* in, Complex* out, Planning planning) {
  return FftwPlan(plan_complex(asked, in, out, sign_forward, flags_of(planning)));
}

FftwPlan FftwPlan::backward(const Transforms& asked, Complex* in, Complex* out, Planning planning) {
  return FftwPlan(plan_complex(asked, in, out, sign_backward, flags_of(planning)));
}

// Rows of an odd number of real values begin anywhere, so none may be taken for aligned.
FftwPlan FftwPlan::to_complex(const Transforms& asked, double* in, Complex* out,
                              Planning planning) {
  const Numbers n(asked);
  const auto odd = asked.size % 2 == 0 ? 0 : unaligned;
  return FftwPlan(needed().plan_many_dft_r2c(
      1, &n.size, n.count, in, nullptr, n.in_stride, n.in_distance, raw(out), nullptr, n.out_stride,
      n.out_distance, flags_of(planning) | preserve_input | odd));
}

FftwPlan FftwPlan::to_real(const Transforms& asked, Complex* in, double* out, Planning planning) {
  const Numbers n(asked);
  const auto odd = asked.size % 2 == 0 ? 0 : unaligned;
  return FftwPlan(needed().plan_many_dft_c2r(
      1, &n.size, n.count, raw(in), nullptr, n.in_stride, n.in_distance, out, nullptr, n.out_stride,
      n.out_distance, flags_of(planning) | destroy_input | odd));
}

FftwPlan FftwPlan::whole_to_complex(const std::array<std::int64_t, 3>& size, double* in,
                                    Complex* out) {
  const std::array<int, 3> n{as_int(size[0]), as_int(size[1]), as_int(size[2])};
  return FftwPlan(needed().plan_dft_r2c(3, n.data(), in, raw(out), estimate | preserve_input));
}

void FftwPlan::run(Complex* in, Complex* out) const {
  library().execute_dft(handle_.get(), raw(in), raw(out));
}
void FftwPlan::run(double* in, Complex* out) const {
  library().execute_dft_r2c(handle_.get(), in, raw(out));
}
void FftwPlan::run(Complex* in, double* out) const {
  library().execute_dft_c2r(handle_.get(), raw(in), out);
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// A three-dimensional Fourier transform of real values, forward and backward, over pencils, as the
// task-mapping paper's bigFFT has it: one-dimensional transforms by FFTW, transposes by MPI.
#include <array>
#include <cmath>
#include <limits>

#include "kernel.hpp"
#include "kernels/fft_pencil/answer.hpp"
#include "kernels/fft_pencil/settings.hpp"
#include "kernels/fft_pencil/store.hpp"

namespace halobench {
namespace fft {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double most_compared = 1
                                 << 20;  ///< points of an array that each rank transforms by itself
constexpr double passes = 8;             ///< roundings that a bound allows each of log2 N passes

class FftPencil : public Instance {
 public:
  FftPencil(const Context& context, const Settings& settings)
      : comm_(context.comm),
        meter_(context.meter),
        store_(context, settings.pencils),
        row_comm_(comm_, static_cast<int>(store_.row())),
        column_comm_(comm_, static_cast<int>(store_.column())),
        sweeps_(make_sweeps(settings.layout, context, store_, settings.planning)),
        fields_(pencils().size) {
    const auto how = settings.transpose;
    if (pencils().columns > 1) {
      in_row_ = std::make_unique<Exchange>(row_comm_, how, store_.z_side(), store_.near_side());
      zy_ = &meter_.phase("transpose_zy");
      yz_ = &meter_.phase("transpose_yz");
    }
    if (pencils().rows > 1) {
      in_column_ =
          std::make_unique<Exchange>(column_comm_, how, store_.far_side(), store_.spectrum_side());
      yx_ = &meter_.phase("transpose_yx");
      xy_ = &meter_.phase("transpose_xy");
    }
    check_spectra();
  }

  /// The result of the last step must not pass as that of the next.
  void prepare() override {
    if (!meter_.executes()) return;
    std::fill_n(store_.out(), store_.planes() * store_.y().size() * pencils().size[2],
                std::numeric_limits<double>::quiet_NaN());
  }

  void step() override {
    forward();
    backward();
  }

  Verdict verify() override {
    if (!meter_.executes()) return {};
    error_ = comm_.max(round_trip_error(store_));
    if (!first_problem_.empty()) return {first_problem_};
    if (error_ <= error_bound_) return {};
    return {"transform and inverse change a value by " + Json(error_).dump() + ", more than " +
            Json(error_bound_).dump()};
  }

  Work work() const override {
    std::int64_t messages = 0;
    for (const auto* exchange : {in_row_.get(), in_column_.get()}) {
      if (exchange != nullptr) messages += exchange->messages_sent();
    }
    return {sweeps_->bytes(), sweeps_->flops(), static_cast<double>(messages)};
  }

  Json result(std::span<const Times> times) override {
    double bytes = 0;
    for (const auto* exchange : {in_row_.get(), in_column_.get()}) {
      if (exchange != nullptr) bytes += exchange->bytes_sent();
    }
    const bool known = meter_.executes();
    const double flops = 2 * 2.5 * pencils().points() * std::log2(pencils().points());
    return Json::object()
        .set("flops_per_s", flops / times[0].median())
        .set("points", pencils().points())
        .set("bytes_sent", comm_.sum(bytes))
        .set("error_max", known ? Json(error_) : Json())
        .set("error_max_bound", known ? Json(error_bound_) : Json())
        .set("spectrum_error_max", known ? Json(spectrum_error_) : Json())
        .set("fftw", known ? Json(fftw_version()) : Json());
  }

 private:
  const Pencils& pencils() const { return store_.pencils(); }
  Range planes(std::int64_t chunk) const { return pencils().chunk(store_.row(), chunk); }

  void begin(Exchange* exchange, Phase* phase, bool forward) {
    if (exchange != nullptr) meter_.communicate(*phase, [&] { exchange->begin(forward); });
  }
  void start(Exchange* exchange, Phase* phase, std::int64_t chunk) {
    if (exchange != nullptr) meter_.communicate(*phase, [&] { exchange->start(chunk); });
  }
  void finish(Exchange* exchange, Phase* phase, std::int64_t chunk) {
    if (exchange != nullptr) meter_.communicate(*phase, [&] { exchange->finish(chunk); });
  }
  void end(Exchange* exchange, Phase* phase) {
    if (exchange != nullptr) meter_.communicate(*phase, [&] { exchange->end(); });
  }

  void forward() {
    const auto chunks = pencils().chunks;
    begin(in_row_.get(), zy_, true);
    begin(in_column_.get(), yx_, true);
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      sweeps_->forward_z(planes(chunk));
      start(in_row_ ? in_row_.get() : in_column_.get(), in_row_ ? zy_ : yx_, chunk);
    }
    for (std::int64_t chunk = 0; in_row_ && chunk < chunks; ++chunk) {
      finish(in_row_.get(), zy_, chunk);
      sweeps_->forward_y(planes(chunk));
      start(in_column_.get(), yx_, chunk);
    }
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) finish(in_column_.get(), yx_, chunk);
    sweeps_->forward_x();
    end(in_row_.get(), zy_);
    end(in_column_.get(), yx_);
  }

  void backward() {
    const auto chunks = pencils().chunks;
    begin(in_column_.get(), xy_, false);
    begin(in_row_.get(), yz_, false);
    sweeps_->backward_x();
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) start(in_column_.get(), xy_, chunk);
    for (std::int64_t chunk = 0; in_row_ && chunk < chunks; ++chunk) {
      finish(in_column_.get(), xy_, chunk);
      sweeps_->backward_y(planes(chunk));
      start(in_row_.get(), yz_, chunk);
    }
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      finish(in_row_ ? in_row_.get() : in_column_.get(), in_row_ ? yz_ : xy_, chunk);
      sweeps_->backward_z(planes(chunk));
    }
    end(in_row_.get(), yz_);
    end(in_column_.get(), xy_);
  }

  /// Every element of a spectrum is a sum over all values, each rounded about log2 N times.
  double spectrum_bound(double sum_of_moduli) const {
    return passes * std::log2(pencils().points() + 1) * epsilon * sum_of_moduli;
  }

  /// A point, waves in single places, and the normally distributed values that steps then have,
  /// whose sum of squares Parseval's theorem gives; those compared with FFTW's own transform of the
  /// whole array, where that is small. Collective.
  void check_spectra() {
    if (!meter_.executes()) return;
    meter_.count(false);
    fill(store_, [this](const Place& at) { return fields_.point(at); });
    forward();
    compare("a point's", [this](const Place& k) { return fields_.point_spectrum(k); });
    fill(store_, [this](const Place& at) { return fields_.waves(at); });
    forward();
    compare("a sum of waves'", [this](const Place& k) { return fields_.waves_spectrum(k); });
    const auto [nx, ny, nz] = pencils().size;
    fill(store_, [=](const Place& at) { return gaussian((at[0] * ny + at[1]) * nz + at[2]); });
    forward();
    compare_squares();
    if (pencils().points() <= most_compared) compare_with_fftw();
    const double most = comm_.max(norms(store_).most);
    error_bound_ = passes * std::log2(pencils().points() + 1) * epsilon * most;
    meter_.count(true);
  }

  template <class Expected>
  void compare(const std::string& whose, const Expected& expected) {
    const double bound = spectrum_bound(comm_.sum(norms(store_).sum));
    const double error = comm_.max(spectrum_error(store_, expected));
    spectrum_error_ = std::max(spectrum_error_, error / bound);
    if (error <= bound || !first_problem_.empty()) return;
    first_problem_ = whose + " spectrum has a coefficient with an error of " + Json(error).dump() +
                     ", more than " + Json(bound).dump();
  }

  void compare_squares() {
    const double expected = comm_.sum(norms(store_).squares) * pencils().points();
    const double squares = comm_.sum(spectrum_squares(store_));
    const auto longest = static_cast<double>(pencils().size[0] * pencils().size[1]);
    const double roundings = passes * std::log2(pencils().points() + 1) + std::sqrt(longest);
    const double bound = roundings * epsilon * expected;
    if (std::abs(squares - expected) <= bound || !first_problem_.empty()) return;
    first_problem_ = "the squares of the spectrum add up to " + Json(squares).dump() + ", not to " +
                     Json(expected).dump() + " (Parseval)";
  }

  void compare_with_fftw() {
    const auto& size = pencils().size;
    const auto values = size[0] * size[1] * size[2];
    std::vector<double> whole(as_size(values));
    for (std::int64_t i = 0; i < values; ++i) whole[as_size(i)] = gaussian(i);
    std::vector<Complex> expected(as_size(size[0] * size[1] * pencils().half()));
    FftwPlan::whole_to_complex(size, whole.data(), expected.data())
        .run(whole.data(), expected.data());
    compare("FFTW's own", [&](const Place& k) {
      return expected[as_size((k[0] * size[1] + k[1]) * pencils().half() + k[2])];
    });
  }

  const Communicator& comm_;
  Meter& meter_;
  const Store store_;
  const Communicator row_comm_;     ///< ranks of the same row
  const Communicator column_comm_;  ///< ranks of the same column
  std::unique_ptr<Sweeps> sweeps_;
  std::unique_ptr<Exchange> in_row_;     ///< nothing where there is one column
  std::unique_ptr<Exchange> in_column_;  ///< nothing where there is one row
  Phase* zy_ = nullptr;
  Phase* yx_ = nullptr;
  Phase* xy_ = nullptr;
  Phase* yz_ = nullptr;
  Fields fields_;
  std::string first_problem_;
  double error_ = 0;
  double error_bound_ = 0;
  double spectrum_error_ = 0;  ///< of known spectra, over what roundings allow
};

Plan plan(const Params& params, const Shape& shape) {
  Plan planned;
  if (!simulated()) planned.absent = fftw_missing();
  const auto settings = parse_settings(params, shape, planned.problems);
  if (!planned.problems.empty()) return planned;
  const auto& pencils = settings.pencils;
  planned.choices["topology"] = pencils.topology();
  planned.choices["chunks"] = std::to_string(pencils.chunks);
  planned.memory_bytes =
      Store::memory(pencils) + sweep_memory(settings.layout, pencils, shape.threads);
  return planned;
}

}  // namespace
}  // namespace fft

Kernel fft_pencil() {
  using enum Result::Type;
  Kernel kernel;
  kernel.name = "fft_pencil";
  kernel.summary =
      "3-D Fourier transform of real values and its inverse, with pencil decomposition";
  kernel.paper = "task-mapping-drop, section 4.3";
  kernel.parameters = fft::parameters();
  const std::string executed = "null if simulated without computing the solution";
  kernel.results = {
      {"flops_per_s", real,
       "floating-point rate: 2.5 N log2 N operations per direction for N points, divided by the "
       "median time",
       "1/s", "null if simulated messages take no time"},
      {"points", real, "grid points"},
      {"bytes_sent", real, "number of bytes sent by all ranks per step", "B"},
      {"error_max", real, "largest difference from the input after the transform and its inverse",
       "", executed},
      {"error_max_bound", real, "largest accepted value", "", executed},
      {"spectrum_error_max", real,
       "largest difference from a known spectrum, as a fraction of the largest accepted difference",
       "", executed},
      {"fftw", text, "library used for one-dimensional transforms", "", executed}};
  kernel.repetitions = "5";
  kernel.warmup = "1";
  kernel.batched = true;
  kernel.small = {
      {"size=12x10x9", "planning=estimate", "repetitions=2", "steps=2"},
      {"size=7x9x8", "topology=columns", "planning=estimate", "repetitions=1", "steps=1"},
      {"size=5x8x6", "topology=even", "chunks=2", "planning=estimate", "repetitions=1", "steps=1"},
      {"size=3x5x140", "transpose=pipelined", "layout=blocked", "planning=estimate",
       "repetitions=1", "steps=1"},  // several blocks of lines
      {"size=4x5x6", "transpose=alltoallv", "layout=strided", "repetitions=1", "steps=1"}};
  kernel.plan = fft::plan;
  kernel.setup = [](const Context& context) -> std::unique_ptr<Instance> {
    std::vector<Problem> none;  // the plan has already refused bad layouts
    const Shape shape{context.comm.size(), context.meter.threads()};
    return std::make_unique<fft::FftPencil>(context,
                                            fft::parse_settings(context.params, shape, none));
  };
  return kernel;
}

}  // namespace halobench

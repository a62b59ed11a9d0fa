// SPDX-License-Identifier: BSD-3-Clause
// Jacobi's method for Laplace's equation in three dimensions, the textbook halo exchange: M.
// Celoria, Report for Assignment 1 of Foundations of High Performance Computing, 2021, section 3.
#include "kernels/jacobi3d/jacobi3d.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/as_size.hpp"
#include "kernel.hpp"
#include "kernels/jacobi3d/mode.hpp"
#include "kernels/jacobi3d/on_device.hpp"
#include "kernels/jacobi3d/settings.hpp"
#include "kernels/memory/memory.hpp"
#include "numerics/largest.hpp"

namespace halobench {
namespace {

using namespace jacobi;
using jacobi::Box;  // not that of index sets

std::int64_t threads_of(const Shape& shape) { return simulated() ? 1 : shape.threads; }

template <class Value>
std::unique_ptr<Sweeper<Value>> make_sweeper(const Variant& variant, const Setting& setting) {
  if constexpr (std::same_as<Value, float>) return variant.make_float(setting);
  if constexpr (std::same_as<Value, double>) return variant.make_double(setting);
}

template <class Value>
class Jacobi3D : public Instance {
 public:
  Jacobi3D(const Context& context, const Settings& settings, const SpaceMaker& make_space)
      : context_(context),
        cut_(settings.cut),
        variant_(settings.variant),
        part_(cut_.part(context.comm.rank())),
        threads_(threads_of({context.comm.size(), context.meter.threads()})),
        sweeps_(settings.sweeps),
        overlap_(settings.overlap),
        sweep_(context.meter.phase("sweep")),
        pack_(context.meter.phase("pack")),
        exchange_(context.meter.phase("exchange")),
        unpack_(context.meter.phase("unpack")),
        mode_(cut_),
        storage_(part_, sizeof(Value)),
        memory_(context.memory.allocate<Value>(2 * storage_.size())),
        meshes_{{{storage_, memory_.data()}, {storage_, memory_.data() + storage_.size()}}},
        halo_(context, cut_, settings.exchange, meshes_),
        whole_pass_(pass_of(cut_.depth)),
        last_pass_(pass_of(sweeps_ % cut_.depth)),
        sweeper_(make_sweeper<Value>(variant_, {cut_.depth, threads_})) {
    if (context.meter.executes()) clear();
    if (settings.memory.on_device) {
      on_device_ = sweeps_on_device<Value>(context, settings.memory, cut_, make_space);
    }
  }

  void prepare() override {
    now_ = 0;
    if (!context_.meter.executes()) return;
    start_from_mode();
    if (on_device_) on_device_->put(meshes_);
  }

  void step() override {
    for (std::int64_t i = 0; on_device_ && i < sweeps_; ++i) sweep_on_device();
    if (on_device_) return;
    for (std::int64_t done = 0; done < sweeps_;) {
      const auto count = std::min(cut_.depth, sweeps_ - done);
      sweep_after_exchange(count == cut_.depth ? whole_pass_ : last_pass_);
      done += count;
    }
  }

  void complete() override {
    if (on_device_) on_device_->synchronise();
  }

  std::string device() const override { return on_device_ ? on_device_->device() : ""; }

  Verdict verify() override {
    if (!context_.meter.executes()) return {};
    if (on_device_) on_device_->fetch(now_, meshes_[now_]);
    examine();
    return {fault(answer_, sweeps_, epsilon)};
  }

  Work work() const override {
    const auto updates = static_cast<double>(points_of(part_.own()) * sweeps_);
    const auto exchanges = (sweeps_ + cut_.depth - 1) / cut_.depth;
    const auto passes = variant_.many_sweeps ? exchanges : sweeps_;
    return {
        pass_bytes(part_.own()) * static_cast<double>(passes), relax_flops * updates,
        static_cast<double>(exchanges * (on_device_ ? on_device_->messages() : halo_.messages()))};
  }

  Json result(std::span<const Times> times) override {
    const bool known = context_.meter.executes();
    const auto whole = static_cast<double>(*volume(cut_.size));
    const auto [faces, bytes] = exchanged(cut_.part(0).extents, cut_.topology, sizeof(Value));
    return Json::object()
        .set("mlups", whole * static_cast<double>(sweeps_) / times[0].median() / 1e6)
        .set("sweeps", sweeps_)
        .set("size", to_string(cut_.size))
        .set("grid", to_string(cut_.topology))
        .set("depth", cut_.depth)
        .set("k", faces)
        .set("c_bytes", static_cast<std::int64_t>(bytes))
        .set("error_max", known ? Json(answer_.error_max) : Json())
        .set("error_max_bound", known ? Json(error_bound(sweeps_, epsilon)) : Json())
        .set("residual_max", known ? Json(answer_.residual_max) : Json())
        .set("fingerprint", known ? Json(fingerprint()) : Json());
  }

 private:
  static constexpr double epsilon = std::numeric_limits<Value>::epsilon();

  /// What is swept after an exchange.
  struct Pass {
    std::vector<Box> targets;             ///< by the sweeps of one pass over memory
    std::vector<Box> inner;               ///< of these, what is swept while messages travel
    std::vector<std::vector<Box>> rests;  ///< and what is left of them then
    std::vector<Box> later;               ///< by further sweeps, a pass each
  };

  /// Of so many sweeps, which need no more ghosts than there are; none of no sweeps.
  Pass pass_of(std::int64_t count) const {
    Pass pass;
    if (count == 0) return pass;
    const auto levels = variant_.many_sweeps ? count : 1;
    for (auto left = count; left-- > 0;) {
      (left >= count - levels ? pass.targets : pass.later)
          .push_back(part_.grown(part_.own(), left));
    }
    pass.inner = without_ghosts(levels);
    for (std::size_t level = 0; level < pass.inner.size(); ++level) {
      pass.rests.push_back(around(pass.targets[level], pass.inner[level]));
    }
    return pass;
  }

  /// Fills the ghosts and sweeps. What needs no ghosts is done while messages travel, if
  /// overlap=yes and the exchange allows it.
  void sweep_after_exchange(const Pass& pass) {
    const auto stages = static_cast<std::int64_t>(halo_.stages());
    for (std::int64_t i = 0; i < stages; ++i) {
      const auto stage = as_size(i);
      const auto copied = halo_.copied_bytes(stage);
      context_.meter.compute(pack_, {copied, 0, copied, copied / 2},
                             [&] { halo_.pack(stage, now_); });
      context_.meter.communicate(exchange_, [&] { halo_.start(stage, now_); });
      if (!pass.inner.empty()) advance(pass.inner, i, stages);
      context_.meter.communicate(exchange_, [&] { halo_.finish(stage, now_); });
      context_.meter.compute(unpack_, {copied, 0, copied, copied / 2},
                             [&] { halo_.unpack(stage, now_); });
    }
    if (pass.inner.empty()) {
      advance(pass.targets);
      now_ = (now_ + pass.targets.size()) % 2;
    }
    for (const auto& rests : pass.rests) {
      for (const auto& rest : rests) advance({&rest, 1});
      now_ = 1 - now_;
    }
    for (const auto& target : pass.later) {
      advance({&target, 1});
      now_ = 1 - now_;
    }
  }

  /// The points of each sweep that no ghost reaches, one layer less in each. Later sweeps write to
  /// the mesh that is being sent, and leave out what is sent. Empty with overlap=no, or if there
  /// are too few.
  std::vector<Box> without_ghosts(std::int64_t levels) const {
    std::vector<Box> inner;
    if (!overlap_ || !halo_.overlaps()) return inner;
    const auto first = levels > 1 ? std::max<std::int64_t>(cut_.depth - 1, 1) : 1;
    for (std::int64_t level = 0; level < levels; ++level) {
      inner.push_back(part_.inside(first + level));
    }
    if (empty(inner.back())) inner.clear();
    return inner;
  }

  /// What a phase takes is what it takes to launch.
  void sweep_on_device() {
    context_.meter.communicate(exchange_, [&] { on_device_->exchange(now_); });
    context_.meter.communicate(sweep_, [&] { on_device_->sweep(now_, traffic(part_.own(), 1)); });
    now_ = 1 - now_;
  }

  Traffic traffic(const Box& target, std::int64_t levels) const {
    const auto updates = static_cast<double>(points_of(target) * levels);
    return {pass_bytes(target), relax_flops * updates,
            2.0 * sizeof(Value) * static_cast<double>(points_of(part_.own())),
            stored_bytes(target)};
  }

  /// One part of a pass, of so many.
  void advance(std::span<const Box> targets, std::int64_t part = 0, std::int64_t parts = 1) {
    Box target = targets.back();
    target[0] = share(target[0], parts, part);
    context_.meter.compute(sweep_, traffic(target, std::ssize(targets)), [&] {
      sweeper_->advance({meshes_[now_], meshes_[1 - now_]}, targets, part, parts);
    });
  }

  /// All but one value a point, which is loaded.
  double stored_bytes(const Box& target) const {
    return pass_bytes(target) - sizeof(Value) * static_cast<double>(points_of(target));
  }

  /// A GPU reads a value and writes one: its caches fetch nothing that is overwritten whole.
  double pass_bytes(const Box& target) const {
    const double values = on_device_ ? 2 : variant_.values_a_pass;
    return values * sizeof(Value) * static_cast<double>(points_of(target));
  }

  /// Zeros, where the boundary is too; by the threads that will sweep there.
  void clear() const {
    const auto planes = storage_.planes();
    in_threads({{{0, planes}, {0, 1}, {0, 1}}}, threads_, [&](const Box& box, std::int64_t) {
      for (const auto& mesh : meshes_) {
        std::fill_n(mesh.memory + box[0].begin * storage_.plane(), box[0].size() * storage_.plane(),
                    Value{0});
      }
    });
  }

  /// Runs body(own point, its value's address, its place in the mesh) for each.
  template <class Body>
  void each_point(const Box& box, const Body& body) const {
    const auto place = cut_.box(context_.comm.rank());
    for (std::int64_t x = box[0].begin; x < box[0].end; ++x) {
      for (std::int64_t y = box[1].begin; y < box[1].end; ++y) {
        for (std::int64_t z = box[2].begin; z < box[2].end; ++z) {
          body(meshes_[now_].at(x, y, z), x + place[0].begin, y + place[1].begin,
               z + place[2].begin);
        }
      }
    }
  }

  void start_from_mode() const {
    in_threads(part_.own(), threads_, [&](const Box& box, std::int64_t) {
      each_point(box, [&](Value* value, std::int64_t x, std::int64_t y, std::int64_t z) {
        *value = static_cast<Value>(mode_.at(x, y, z));
      });
    });
  }

  void examine() {
    for (std::size_t stage = 0; stage < halo_.stages(); ++stage) {
      halo_.pack(stage, now_);
      halo_.start(stage, now_);
      halo_.finish(stage, now_);
      halo_.unpack(stage, now_);
    }
    std::vector<Answer> answers(as_size(threads_));
    const double decay = mode_.after(sweeps_);
    in_threads(part_.own(), threads_, [&](const Box& box, std::int64_t thread) {
      auto& answer = answers[as_size(thread)];
      each_point(box, [&](const Value* value, std::int64_t x, std::int64_t y, std::int64_t z) {
        const double exact = decay * mode_.at(x, y, z);
        const Planes<Value> planes{value - storage_.plane(), value, value + storage_.plane(),
                                   storage_.row()};
        Value next{};
        relax(&next, planes, 0, 1);
        const double residual = double{next} - double{*value};
        const double exact_residual = (mode_.factor() - 1) * exact;
        raise(answer.error_max, std::abs(*value - exact));
        raise(answer.residual_max, std::abs(residual));
        raise(answer.residual_error_max, std::abs(residual - exact_residual));
      });
    });
    std::array<double, 3> most{};
    for (const auto& answer : answers) {
      raise(most[0], answer.error_max);
      raise(most[1], answer.residual_max);
      raise(most[2], answer.residual_error_max);
    }
    context_.comm.max(most);
    answer_ = {most[0], most[1], most[2]};
  }

  /// A number that any other value at any point would have changed.
  std::string fingerprint() const {
    std::uint64_t sum = 0;
    each_point(part_.own(),
               [&](const Value* value, std::int64_t x, std::int64_t y, std::int64_t z) {
                 const auto place = (x * cut_.size[1] + y) * cut_.size[2] + z;
                 const auto mixed = (std::bit_cast<std::uint64_t>(double{*value}) ^
                                     (static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15U)) *
                                    0xbf58476d1ce4e5b9U;
                 sum += mixed ^ (mixed >> 31);
               });
    sum = static_cast<std::uint64_t>(context_.comm.sum(static_cast<std::int64_t>(sum)));
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[sum >> shift & 15U];
    return digits;
  }

  const Context context_;
  const Cut cut_;
  const Variant variant_;
  const Part part_;
  const std::int64_t threads_;
  const std::int64_t sweeps_;
  const bool overlap_;
  Phase& sweep_;
  Phase& pack_;
  Phase& exchange_;
  Phase& unpack_;
  const Mode mode_;
  const Storage storage_;
  Buffer<Value> memory_;
  std::array<Mesh<Value>, 2> meshes_;
  std::size_t now_ = 0;  ///< which of them has the values
  Halo<Value> halo_;
  const Pass whole_pass_;  ///< of as many sweeps as there are layers of ghosts
  const Pass last_pass_;   ///< of those that are left then
  std::unique_ptr<Sweeper<Value>> sweeper_;
  std::unique_ptr<SweepsOnDevice<Value>> on_device_;  ///< none where all is the host's
  Answer answer_;
};

}  // namespace

Kernel jacobi3d() { return jacobi3d_in({}); }

Kernel jacobi3d_in(const SpaceMaker& make_space) {
  using enum Result::Type;
  Kernel kernel;
  kernel.name = "jacobi3d";
  kernel.summary = "Jacobi sweeps of a seven-point stencil in three dimensions";
  kernel.paper = "orfeo-mpi-report, section 3";
  kernel.parameters = parameters();
  const std::string executed = "null if simulated without computing the solution";
  kernel.results = {
      {"mlups", real, "million lattice updates per second, from the median time", "",
       "null if simulated sweeps take no time"},
      {"sweeps", integer, "sweeps per step"},
      {"size", extents, "number of points of the whole mesh along each axis"},
      {"grid", extents, "ranks along each axis"},
      {"depth", integer, "number of ghost layers, which is also the number of sweeps per exchange"},
      {"k", integer, "number of messages that an interior rank sends per exchange"},
      {"c_bytes", integer, "total size of the messages that an interior rank sends per exchange",
       "B"},
      {"error_max", real, "largest difference from the exact values", "", executed},
      {"error_max_bound", real, "largest accepted value", "", executed},
      {"residual_max", real, "largest change of a value in one additional sweep", "", executed},
      {"fingerprint", text, "hash of all values, independent of the layout", "", executed}};
  kernel.repetitions = "5";
  kernel.warmup = "1";
  kernel.small = {{"size=13x9x11", "depth=2", "sweeps=5", "repetitions=2", "timeline=9",
                   "memory=host", "mpi=gpu_aware", "sync=default_stream", "device_lag=none",
                   "gpus_shared=1"}};
  for (const std::string boundary : {"dirichlet", "periodic"}) {
    const CaseArguments small{
        "size=13x9x11",         "sweeps=5",      "repetitions=2",       "timeline=9", "overlap=no",
        "exchange=nonblocking", "variant=plain", "boundary=" + boundary};
    const auto all = small_in_memories(small, small, false);
    kernel.small.insert(kernel.small.end(), all.begin() + 1, all.end());  // the first is the host's
  }
  kernel.plan = plan;
  kernel.setup = [make_space](const Context& context) -> std::unique_ptr<Instance> {
    std::vector<Problem> none;  // the plan has already refused bad layouts
    const auto settings = parse_settings(context.params, context.comm.size(), none);
    if (settings.value_bytes == sizeof(float)) {
      return std::make_unique<Jacobi3D<float>>(context, settings, make_space);
    }
    return std::make_unique<Jacobi3D<double>>(context, settings, make_space);
  };
  return kernel;
}

}  // namespace halobench

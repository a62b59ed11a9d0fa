// SPDX-License-Identifier: BSD-3-Clause
// Halos of a periodic grid by a star forest: every rank's n x n (x n) points copied into an array
// with a halo, and that array added back to its points. Zhang, Mills and Smith 2020, section 5.3
// (there, the star stencil of a DMDA).
#include "kernels/sf_grid/sf_grid.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/as_size.hpp"
#include "kernels/star_forest/parts.hpp"
#include "kernels/star_forest/space.hpp"
#include "mpi/rank_grid.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench {
namespace {

struct Topology {
  Extents ranks{1, 1, 1};
  std::size_t dimensions = 2;
};

/// The parameters of a case on a given number of ranks.
struct Settings {
  Topology topology;
  std::vector<std::int64_t> sizes;  ///< points of a rank along each axis
  MemorySettings memory;
};

/// 2d, 3d, or ranks along two or three axes.
Topology parse_topology(const std::string& text, std::int64_t ranks,
                        std::vector<Problem>& problems) {
  if (text == "2d") return {most_even(ranks, 2), 2};
  if (text == "3d") return {most_even(ranks, 3), 3};
  const auto extents = parse_extents(text);
  const auto crosses = std::ranges::count(text, 'x');
  if (extents && crosses > 0 && volume(*extents) == ranks) return {*extents, as_size(crosses) + 1};
  problems.push_back({"topology", text,
                      "give 2d, 3d, or ranks along x and y (and z) with the product " +
                          std::to_string(ranks) + ", such as " + std::to_string(ranks) + "x1"});
  return {};
}

/// Appends what is wrong with the topology to `problems`.
Settings parse_settings(const Params& params, std::int64_t ranks, std::vector<Problem>& problems) {
  return {parse_topology(params.text("topology"), ranks, problems), params.sizes("n"),
          parse_memory(params)};
}

/// One rank's cube of the periodic grid. Points and ranks are numbered x first, as a DMDA does.
class Cube {
 public:
  Cube(const Topology& topology, int rank, std::int64_t n)
      : dimensions_(topology.dimensions), n_(n), rank_(rank) {
    const auto [x, y, z] = topology.ranks;
    const RankGrid ranks({z, y, x}, true);  // which numbers its last axis first
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
      neighbours_[axis] = {ranks.neighbour(rank, 2 - axis, -1), ranks.neighbour(rank, 2 - axis, 1)};
    }
  }

  std::int64_t points() const { return power(n_); }
  /// With a halo all round; its corners are never touched.
  std::int64_t points_with_halo() const { return power(n_ + 2); }
  /// The points, and a halo on each face.
  std::int64_t edges() const {
    return points() + 2 * static_cast<std::int64_t>(dimensions_) * points() / n_;
  }
  /// Of a rank's face.
  std::int64_t face() const { return points() / n_; }

  /// `body(leaf, root)` for the points, then face by face: a place in the array with halo, and the
  /// point it shows.
  template <class Body>
  void for_each_edge(Body&& body) const {
    Extents low{0, 0, 0};
    Extents high{n_, n_, dimensions_ == 3 ? n_ : 1};
    block(low, high, body);
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
      for (const auto outside : {std::int64_t{-1}, n_}) {
        auto face_low = low;
        auto face_high = high;
        face_low[axis] = outside;
        face_high[axis] = outside + 1;
        block(face_low, face_high, body);
      }
    }
  }

  /// The point that place `leaf` of the array with halo shows; corners show none.
  std::optional<Root> shown(std::int64_t leaf) const {
    const auto row = n_ + 2;
    const Extents place{leaf % row - 1, leaf / row % row - 1,
                        dimensions_ == 3 ? leaf / row / row - 1 : 0};
    const auto outside = [&](std::int64_t at) { return at < 0 || at == n_; };
    if (std::ranges::count_if(place, outside) > 1) return std::nullopt;
    return root_at(place);
  }

  /// How many places show point `index` of any rank.
  std::int64_t copies(std::int64_t index) const {
    std::int64_t sum = 1;
    for (std::size_t axis = 0; axis < dimensions_; ++axis, index /= n_) {
      sum += (index % n_ == 0 ? 1 : 0) + (index % n_ == n_ - 1 ? 1 : 0);
    }
    return sum;
  }

 private:
  std::int64_t power(std::int64_t extent) const {
    return extent * extent * (dimensions_ == 3 ? extent : 1);
  }

  template <class Body>
  void block(const Extents& low, const Extents& high, Body& body) const {
    const auto leaf_row = n_ + 2;
    const std::int64_t above = dimensions_ == 3 ? 1 : 0;  // a plane of halo below the first point
    for (auto z = low[2]; z < high[2]; ++z) {
      for (auto y = low[1]; y < high[1]; ++y) {
        for (auto x = low[0]; x < high[0]; ++x) {
          body((x + 1) + leaf_row * ((y + 1) + leaf_row * (z + above)), root_at({x, y, z}));
        }
      }
    }
  }

  /// The point that a place shows: a rank's own, or beyond one of its faces.
  Root root_at(Extents place) const {
    int rank = rank_;
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
      if (place[axis] >= 0 && place[axis] < n_) continue;
      const bool below = place[axis] < 0;
      rank = neighbours_[axis][below ? 0 : 1];
      place[axis] += below ? n_ : -n_;
    }
    return {rank, place[0] + n_ * (place[1] + n_ * place[2])};
  }

  std::size_t dimensions_;
  std::int64_t n_;
  int rank_;
  std::array<std::array<int, 2>, 3> neighbours_{};  ///< by axis: the low side, the high one
};

class GridForest : public Instance {
 public:
  GridForest(const Context& context, const Settings& settings, const SpaceMaker& make_space)
      : comm_(context.comm),
        meter_(context.meter),
        space_(make_space(context.meter, context.memory)),
        parts_(*space_),
        to_local_(context.meter.phase("global to local")),
        to_global_(context.meter.phase("local to global")),
        sizes_(settings.sizes) {
    std::int64_t points = 0;
    std::int64_t with_halo = 0;
    for (const auto n : sizes_) {
      const auto& cube = cubes_.emplace_back(settings.topology, comm_.rank(), n);
      std::vector<Root> edges;
      std::vector<std::int64_t> leaves;
      edges.reserve(as_size(cube.edges()));
      leaves.reserve(as_size(cube.edges()));
      cube.for_each_edge([&](std::int64_t leaf, const Root& root) {
        leaves.push_back(leaf);
        edges.push_back(root);
      });
      forests_.push_back(
          std::make_unique<StarForest>(comm_, *space_, cube.points(), edges, leaves));
      points = std::max(points, cube.points());
      with_halo = std::max(with_halo, cube.points_with_halo());
    }
    global_ = space_->allocate<double>(points);
    local_ = space_->allocate<double>(with_halo);
  }

  std::size_t points() const override { return sizes_.size(); }
  void select(std::size_t point) override { point_ = point; }

  void prepare() override {
    steps_ = 0;
    ++round_;
    if (!meter_.executes()) return;
    fill(*space_, global_, cube().points(), [&](std::int64_t i) { return start(comm_.rank(), i); });
    fill(*space_, local_, cube().points_with_halo(), [](std::int64_t) { return -1.0; });
  }

  void step() override {
    ++steps_;
    auto& forest = *forests_[point_];
    const auto unit = Unit::of<double>();
    meter_.communicate(to_local_, [&] {
      forest.bcast_begin(unit, global_.data(), local_.data());
      forest.bcast_end(unit, global_.data(), local_.data());
    });
    meter_.communicate(to_global_, [&] {
      forest.reduce_begin(unit, local_.data(), global_.data(), Operation::sum);
      forest.reduce_end(unit, local_.data(), global_.data(), Operation::sum);
    });
  }

  void complete() override { space_->synchronise(); }

  std::vector<StepPart> parts() const override { return parts_.all(); }

  void run_part(std::size_t part) override {
    parts_.run(*forests_[point_], part, {global_.data(), local_.data(), Operation::replace},
               {global_.data(), local_.data(), Operation::sum});
  }

  /// What the timed steps left; then one step from new values, for sums that grew beyond all
  /// numbers.
  Verdict verify() override {
    auto wrong = wrong_values();
    meter_.count(false);
    prepare();
    step();
    meter_.count(true);
    wrong = comm_.sum(wrong + wrong_values());
    if (wrong == 0) return {};
    return {std::to_string(wrong) + " values of n = " + std::to_string(sizes_[point_]) +
            " are wrong"};
  }

  Work work() const override {
    const auto there = forests_[point_]->bcast_sent();
    const auto back = forests_[point_]->reduce_sent();
    return {sizeof(double) * static_cast<double>(there.units + back.units),
            static_cast<double>(cube().edges()),
            static_cast<double>(there.messages + back.messages)};
  }

  std::string device() const override { return space_->device_name(); }

  Json point(std::size_t point, const Times& times) override {
    return Json::object()
        .set("size_bytes", std::int64_t{sizeof(double)} * cubes_[point].face())
        .set("operation", Json())
        .set("n", sizes_[point])
        .set("shape", shape_record(comm_, *forests_[point], Operation::replace, Operation::sum))
        .set("result", Json::object().set("latency_s", 0.5 * times.median()));
  }

  Json result(std::span<const Times> times) override {
    return Json::object().set("latency_s", 0.5 * times[0].median());
  }

 private:
  const Cube& cube() const { return cubes_[point_]; }

  /// Whole numbers, so that sums of few are exact; no neighbour's and no neighbouring round's.
  double start(int rank, std::int64_t i) const {
    return static_cast<double>(1 + (i + 7919 * rank + 104729 * round_) % 1000003);
  }

  /// A point's value, and what the array with halo shows of it, after the steps since prepare().
  struct Shown {
    double point;
    double place;
  };
  Shown after_steps(int rank, std::int64_t i) const {
    const auto copies = cube().copies(i);
    Shown shown{start(rank, i), -1.0};
    for (std::int64_t step = 0; step < steps_ && shown.place != shown.point; ++step) {
      shown.place = shown.point;
      for (std::int64_t copy = 0; copy < copies; ++copy) shown.point += shown.place;
    }
    return shown;
  }

  std::int64_t wrong_values() const {
    std::int64_t wrong = 0;
    if (!meter_.executes()) return wrong;
    visit(*space_, global_, cube().points(), [&](std::int64_t i, double found) {
      wrong += found != after_steps(comm_.rank(), i).point ? 1 : 0;
    });
    visit(*space_, local_, cube().points_with_halo(), [&](std::int64_t i, double found) {
      const auto root = cube().shown(i);
      wrong += root && found != after_steps(root->rank, root->index).place ? 1 : 0;
    });
    return wrong;
  }

  const Communicator& comm_;
  Meter& meter_;
  std::unique_ptr<Space> space_;
  ForestParts parts_;
  Phase& to_local_;
  Phase& to_global_;
  std::vector<std::int64_t> sizes_;
  std::vector<Cube> cubes_;                           ///< one a point
  std::vector<std::unique_ptr<StarForest>> forests_;  ///< one a point
  SpaceArray<double> global_;
  SpaceArray<double> local_;
  std::size_t point_ = 0;
  std::int64_t round_ = 0;
  std::int64_t steps_ = 0;
};

Plan plan_grid(const Params& params, const Shape& shape) {
  Plan plan;
  const auto settings = parse_settings(params, shape.ranks, plan.problems);
  if (!plan.problems.empty()) return plan;
  const Cube cube(settings.topology, 0, std::ranges::max(settings.sizes));
  const auto edges = static_cast<double>(cube.edges()) * (sizeof(Root) + sizeof(std::int64_t));
  const auto arrays = static_cast<double>(cube.points() + cube.points_with_halo()) * sizeof(double);
  plan.memory_bytes = static_cast<double>(shape.ranks) * (arrays + 2 * edges);
  if (settings.memory.on_device) plan.device_bytes = static_cast<double>(shape.ranks) * arrays;
  plan_memory(settings.memory, plan);
  return plan;
}

}  // namespace

Kernel sf_grid() { return sf_grid_in({}); }

Kernel sf_grid_in(const SpaceMaker& make_space) {
  Kernel kernel;
  kernel.name = "sf_grid";
  kernel.summary =
      "Star forest (as in PetscSF): fill the halos of a periodic grid, then add the halo values to "
      "the "
      "points that they are copies of";
  kernel.paper = "anl-petsc-summit-part2, section 5.3";
  kernel.parameters = {
      {"n", Parameter::Type::sizes, "4:1K",
       "number of points per rank along each axis. The published report uses 4 to 4K. In two "
       "dimensions, 4K requires 1 GiB per rank during set-up",
       "", 1, 65536},
      {"topology", Parameter::Type::text, "2d",
       "grid of ranks, such as 3x3 or 2x2x1; 2d or 3d: the most even grid of that dimension"},
  };
  for (auto& one : memory_parameters(false, true)) kernel.parameters.push_back(std::move(one));
  kernel.results = {
      {"latency_s", Result::Type::real, "half the time per step at the first size", "s"}};
  kernel.point_results = {
      {"latency_s", Result::Type::real, "half the time per step, median over repetitions", "s"}};
  kernel.repetitions = "20";
  kernel.warmup = "2";
  kernel.sweeps = true;
  kernel.batched = true;
  kernel.has_parts = true;
  kernel.small =
      small_in_memories({"n=1,2,5,16", "repetitions=2", "steps=3", "parts=yes", "timeline=9"},
                        {"n=1,5", "topology=3d", "repetitions=1", "steps=3", "timeline=9"}, false);
  kernel.small.push_back({"n=5", "repetitions=1", "steps=1", "parts=yes", "memory=device",
                          "mpi=staged", "sync=default_stream", "device_lag=until_waited"});
  kernel.small.push_back({"n=1,2,5", "topology=3d", "repetitions=2", "steps=3", "memory=host",
                          "mpi=gpu_aware", "sync=default_stream", "device_lag=none"});
  kernel.plan = plan_grid;
  kernel.setup = [make_space](const Context& context) {
    std::vector<Problem> none;  // the plan has already refused bad topologies
    const auto settings = parse_settings(context.params, context.comm.size(), none);
    return std::make_unique<GridForest>(
        context, settings, make_space ? make_space : chosen_memory(context, settings.memory));
  };
  return kernel;
}

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/jacobi3d/on_device.hpp"

#include <vector>

#include "device/divisor.hpp"
#include "kernels/star_forest/space.hpp"
#include "star_forest/device_space.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench::jacobi {
namespace {

/// The mean of six neighbours of a few points along x, which load each of their values once.
/// Neighbouring threads take neighbours along z, which lie side by side.
template <class Value>
struct Mean {
  static constexpr std::int64_t points = 4;  ///< the fastest of 1, 4, 8, and 16

  std::int64_t first;  ///< where the first own point lies
  std::int64_t row;
  std::int64_t plane;
  std::int64_t extent;  ///< own points along x
  Divisor along_y;
  Divisor along_z;
  const Value* from;
  Value* to;

  static std::int64_t threads(const Extents& own) {
    return (own[0] + points - 1) / points * own[1] * own[2];
  }

  HALOBENCH_ANYWHERE void operator()(std::int64_t thread) const {
    const auto rows = along_z.quotient(thread);
    const auto few = along_y.quotient(rows);
    const auto y = rows - few * along_y.value();
    const auto z = thread - rows * along_z.value();
    const auto begin = few * points;
    auto k = first + begin * plane + y * row + z;
    Value below = from[k - plane];
    Value here = from[k];
    for (std::int64_t x = 0; x < points; ++x, k += plane) {
      if (begin + x >= extent) return;
      const Value* at = from + k;
      const Value above = at[plane];
      // As relax() has it, to the last bit.
      to[k] = (((below + above) + (at[-row] + at[row])) + (at[-1] + at[1])) * (Value{1} / Value{6});
      below = here;
      here = above;
    }
  }
};

template <class Value>
class Sweeps : public SweepsOnDevice<Value> {
 public:
  Sweeps(const Context& context, const Cut& cut, const SpaceMaker& make_space);

  void put(const std::array<Mesh<Value>, 2>& meshes) override;
  void fetch(std::size_t which, const Mesh<Value>& mesh) const override;
  void exchange(std::size_t which) override;
  void sweep(std::size_t from, const Traffic& traffic) override;
  void synchronise() const override;
  std::int64_t messages() const override { return forest_->bcast_sent().messages; }
  std::string device() const override { return device_.device().name(); }

 private:
  Value* reach(std::size_t which) const;
  void connect(const Context& context, const Cut& cut);

  Part part_;
  Storage storage_;
  std::unique_ptr<Space> space_;
  DeviceSpace& device_;
  std::array<SpaceArray<Value>, 2> meshes_;
  std::unique_ptr<StarForest> forest_;  ///< from own points to ghosts
};

template <class Value>
Sweeps<Value>::Sweeps(const Context& context, const Cut& cut, const SpaceMaker& make_space)
    : part_(cut.part(context.comm.rank())),
      storage_(part_, sizeof(Value)),
      space_(make_space(context.meter, context.memory)),
      device_(*space_->on_device()) {
  for (auto& mesh : meshes_) mesh = space_->allocate<Value>(storage_.size());
  connect(context, cut);
}

/// A ghost is the leaf of the point that it is a copy of, on the rank that has it.
template <class Value>
void Sweeps<Value>::connect(const Context& context, const Cut& cut) {
  const auto rank = context.comm.rank();
  std::vector<Root> edges;
  std::vector<std::int64_t> leaves;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    for (const int step : {-1, 1}) {
      const int other = cut.grid().neighbour(rank, axis, step);
      if (other == MPI_PROC_NULL) continue;
      const auto their_part = cut.part(other);
      const Storage theirs(their_part, sizeof(Value));
      Box face = part_.own();
      face[axis] = step < 0 ? Range{-1, 0} : Range{part_.extents[axis], part_.extents[axis] + 1};
      for (std::int64_t x = face[0].begin; x < face[0].end; ++x) {
        for (std::int64_t y = face[1].begin; y < face[1].end; ++y) {
          for (std::int64_t z = face[2].begin; z < face[2].end; ++z) {
            Extents root{x, y, z};
            root[axis] = step < 0 ? their_part.extents[axis] - 1 : 0;
            leaves.push_back(storage_.at(x, y, z));
            edges.push_back({other, theirs.at(root[0], root[1], root[2])});
          }
        }
      }
    }
  }
  forest_ = std::make_unique<StarForest>(context.comm, *space_, storage_.size(), edges, leaves);
}

template <class Value>
void Sweeps<Value>::put(const std::array<Mesh<Value>, 2>& meshes) {
  constexpr std::int64_t item = sizeof(Value);
  for (std::size_t which = 0; which < meshes.size(); ++which) {
    space_->copy_in(meshes[which].memory, meshes_[which].data(), storage_.size() * item);
  }
}

template <class Value>
void Sweeps<Value>::fetch(std::size_t which, const Mesh<Value>& mesh) const {
  constexpr std::int64_t item = sizeof(Value);
  space_->copy_out(meshes_[which].data(), mesh.memory, storage_.size() * item);
}

template <class Value>
void Sweeps<Value>::exchange(std::size_t which) {
  Value* mesh = meshes_[which].data();
  forest_->bcast_begin(Unit::of<Value>(), mesh, mesh);
  forest_->bcast_end(Unit::of<Value>(), mesh, mesh);
}

template <class Value>
void Sweeps<Value>::sweep(std::size_t from, const Traffic& traffic) {
  const auto& own = part_.extents;
  const auto threads = Mean<Value>::threads(own);
  launch_over(device_.device(), device_.users_stream(), threads, traffic,
              Mean<Value>{storage_.at(0, 0, 0), storage_.row(), storage_.plane(), own[0],
                          Divisor(own[1], threads), Divisor(own[2], threads), reach(from),
                          reach(1 - from)});
}

template <class Value>
void Sweeps<Value>::synchronise() const {
  device_.device().synchronise(device_.users_stream());
}

template <class Value>
Value* Sweeps<Value>::reach(std::size_t which) const {
  return static_cast<Value*>(device_.device().reach(static_cast<void*>(meshes_[which].data())));
}

}  // namespace

template <class Value>
std::unique_ptr<SweepsOnDevice<Value>> sweeps_on_device(const Context& context,
                                                        const MemorySettings& memory,
                                                        const Cut& cut,
                                                        const SpaceMaker& make_space) {
  const auto space = make_space ? make_space : chosen_memory(context, memory);
  return std::make_unique<Sweeps<Value>>(context, cut, space);
}

template std::unique_ptr<SweepsOnDevice<double>> sweeps_on_device(const Context&,
                                                                  const MemorySettings&, const Cut&,
                                                                  const SpaceMaker&);
template std::unique_ptr<SweepsOnDevice<float>> sweeps_on_device(const Context&,
                                                                 const MemorySettings&, const Cut&,
                                                                 const SpaceMaker&);

}  // namespace halobench::jacobi

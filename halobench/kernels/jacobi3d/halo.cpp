// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/jacobi3d/halo.hpp"

#include <algorithm>

#include "base/as_size.hpp"

namespace halobench::jacobi {
namespace {

/// Both faces of a box across an axis: what is sent at the low and at the high side, and the ghosts
/// there. Across the axes before it, faces reach into the ghosts if there are corners to fill.
struct Ends {
  std::array<Box, 2> out;
  std::array<Box, 2> in;
};

Ends ends(const Part& part, std::size_t axis) {
  Box face = part.own();
  for (std::size_t before = 0; part.depth > 1 && before < axis; ++before) {
    face[before] = part.grown(face, part.depth)[before];
  }
  Ends ends{{face, face}, {face, face}};
  const auto end = part.extents[axis];
  ends.out[0][axis] = {0, part.depth};
  ends.out[1][axis] = {end - part.depth, end};
  ends.in[0][axis] = {-part.depth, 0};
  ends.in[1][axis] = {end, end + part.depth};
  return ends;
}

bool has_ghosts(const Part& part, std::size_t axis) {
  return part.open[axis][0] || part.open[axis][1];
}

/// The axes that are exchanged together.
std::vector<std::vector<std::size_t>> stages_of(const Part& part) {
  std::vector<std::vector<std::size_t>> stages;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (!has_ghosts(part, axis)) continue;
    if (stages.empty() || part.depth > 1) stages.emplace_back();
    stages.back().push_back(axis);
  }
  return stages;
}

/// Runs body(row of the box, its place in a buffer, its length).
template <class Value, class Body>
void each_row(const Mesh<Value>& mesh, const Box& box, const Body& body) {
  const auto count = box[2].size();
#pragma omp parallel for collapse(2)
  for (std::int64_t x = box[0].begin; x < box[0].end; ++x) {
    for (std::int64_t y = box[1].begin; y < box[1].end; ++y) {
      const auto row = (x - box[0].begin) * box[1].size() + y - box[1].begin;
      body(mesh.at(x, y, box[2].begin), row * count, count);
    }
  }
}

}  // namespace

std::vector<std::string> face_exchange_names() {
  return {"blocking", "sendrecv", "nonblocking", "persistent", "neighbor", "derived_types"};
}

FaceExchange face_exchange(const std::string& name) {
  if (name == "derived_types") return {ExchangeMode::nonblocking, true};
  return {exchange_mode(name), false};
}

template <class Value>
Halo<Value>::Halo(const Context& context, const Cut& cut, const FaceExchange& exchange,
                  const std::array<Mesh<Value>, 2>& meshes)
    : meshes_(meshes), picks_(exchange.derived_types) {
  const auto rank = context.comm.rank();
  const auto part = cut.part(rank);
  for (const auto& together : stages_of(part)) {
    auto& stage = stages_.emplace_back();
    for (std::size_t which = 0; which < (picks_ ? meshes_.size() : 1); ++which) {
      std::vector<Axis> lines;
      for (const auto axis : together) {
        const auto [out, in] = ends(part, axis);
        const int low = cut.grid().neighbour(rank, axis, -1);
        const int high = cut.grid().neighbour(rank, axis, 1);
        if (low == rank) {
          if (which == 0) stage.wraps.push_back({out[1], in[0], {}, {}});
          if (which == 0) stage.wraps.push_back({out[0], in[1], {}, {}});
          continue;
        }
        const auto& mesh = meshes_[which];
        const auto position = static_cast<int>(cut.grid().coordinates(rank)[axis]);
        lines.push_back({position, meet(context, low, mesh, out[0], in[0], stage),
                         meet(context, high, mesh, out[1], in[1], stage)});
      }
      stage.exchanges.push_back(std::make_unique<HaloExchange>(context.comm, exchange.mode, lines));
    }
  }
}

template <class Value>
Halo<Value>::~Halo() {
  for (auto& type : types_) MPI_Type_free(&type);
}

template <class Value>
Neighbour Halo<Value>::meet(const Context& context, int rank, const Mesh<Value>& mesh,
                            const Box& out, const Box& in, Stage& stage) {
  if (rank == MPI_PROC_NULL) return {};
  if (picks_) return {rank, {mesh.memory, type_of(mesh, out)}, {mesh.memory, type_of(mesh, in)}};
  const auto& face =
      stage.faces.emplace_back(out, in, context.memory.allocate<Value>(points_of(out)),
                               context.memory.allocate<Value>(points_of(in)));
  return {rank, face.send.span(), face.receive.span()};
}

template <class Value>
MPI_Datatype Halo<Value>::type_of(const Mesh<Value>& mesh, const Box& box) {
  const auto value = Payload(std::span<Value>{}).type;
  const auto bytes = static_cast<MPI_Aint>(sizeof(Value));
  MPI_Datatype plane = MPI_DATATYPE_NULL;
  MPI_Datatype planes = MPI_DATATYPE_NULL;
  MPI_Datatype placed = MPI_DATATYPE_NULL;
  check(MPI_Type_vector(message_count(box[1].size()), message_count(box[2].size()),
                        message_count(mesh.storage.row()), value, &plane),
        "MPI_Type_vector");
  check(MPI_Type_create_hvector(message_count(box[0].size()), 1, mesh.storage.plane() * bytes,
                                plane, &planes),
        "MPI_Type_create_hvector");
  const int one = 1;
  const MPI_Aint first = mesh.storage.at(box[0].begin, box[1].begin, box[2].begin) * bytes;
  check(MPI_Type_create_hindexed(1, &one, &first, planes, &placed), "MPI_Type_create_hindexed");
  check(MPI_Type_commit(&placed), "MPI_Type_commit");
  MPI_Type_free(&plane);
  MPI_Type_free(&planes);
  return types_.emplace_back(placed);
}

template <class Value>
HaloExchange& Halo<Value>::exchange(std::size_t stage, std::size_t which) const {
  return *stages_[stage].exchanges[picks_ ? which : 0];
}

template <class Value>
bool Halo<Value>::overlaps() const {
  return !stages_.empty() && exchange(0, 0).overlaps();
}

template <class Value>
void Halo<Value>::pack(std::size_t stage, std::size_t which) const {
  for (const auto& face : stages_[stage].faces) {
    each_row(meshes_[which], face.out, [&](const Value* row, std::int64_t at, std::int64_t count) {
      std::copy_n(row, count, face.send.data() + at);
    });
  }
}

template <class Value>
void Halo<Value>::start(std::size_t stage, std::size_t which) const {
  exchange(stage, which).start();
}

template <class Value>
void Halo<Value>::finish(std::size_t stage, std::size_t which) const {
  exchange(stage, which).finish();
}

template <class Value>
void Halo<Value>::unpack(std::size_t stage, std::size_t which) const {
  const auto& mesh = meshes_[which];
  for (const auto& face : stages_[stage].faces) {
    each_row(mesh, face.in, [&](Value* row, std::int64_t at, std::int64_t count) {
      std::copy_n(face.receive.data() + at, count, row);
    });
  }
  for (const auto& [out, in, unused_send, unused_receive] : stages_[stage].wraps) {
    const auto offset = mesh.at(out[0].begin, out[1].begin, out[2].begin) -
                        mesh.at(in[0].begin, in[1].begin, in[2].begin);
    each_row(mesh, in, [=](Value* row, std::int64_t, std::int64_t count) {
      std::copy_n(row + offset, count, row);
    });
  }
}

template <class Value>
std::int64_t Halo<Value>::messages() const {
  std::int64_t messages = 0;
  for (const auto& stage : stages_) messages += stage.exchanges[0]->messages();
  return messages;
}

template <class Value>
double Halo<Value>::copied_bytes(std::size_t stage) const {
  std::int64_t values = 0;
  for (const auto& face : stages_[stage].faces) values += 2 * points_of(face.out);
  for (const auto& face : stages_[stage].wraps) values += 2 * points_of(face.out);
  return static_cast<double>(values) * sizeof(Value);
}

template <class Value>
std::int64_t Halo<Value>::memory(const Cut& cut, std::int64_t rank, const FaceExchange& exchange) {
  std::int64_t values = 0;
  const auto part = cut.part(rank);
  for (std::size_t axis = 0; axis < axes && !exchange.derived_types; ++axis) {
    if (cut.topology[axis] == 1) continue;
    const auto face = points_of(ends(part, axis).out[0]);
    values += 2 * face * (part.open[axis][0] + part.open[axis][1]);
  }
  return values;
}

template class Halo<double>;
template class Halo<float>;

}  // namespace halobench::jacobi

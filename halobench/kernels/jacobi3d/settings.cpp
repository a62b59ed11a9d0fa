// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/jacobi3d/settings.hpp"

#include "base/streaming.hpp"

namespace halobench::jacobi {
namespace {

std::vector<Variant> variants() { return {plain(), streaming(), temporal()}; }

/// Adds to a plan what the kernel does in a device's memory, and what it does not.
void plan_on_device(const Settings& settings, const std::string& exchange, Plan& planned) {
  const auto& variant = settings.variant.name;
  const auto refuse = [&](const char* key, const std::string& value, const char* remedy) {
    planned.problems.push_back(
        {key, value, std::string("not supported in device memory; ") + remedy});
  };
  if (variant != "plain") {
    refuse("variant", variant, "give plain, or memory=host");
  }
  if (exchange != "nonblocking") {
    refuse("exchange", exchange, "give nonblocking, or memory=host");
  }
  if (variant == "plain" && settings.cut.depth != 1) {
    refuse("depth", std::to_string(settings.cut.depth), "give 1, or memory=host");
  }
  planned.choices["overlap"] = "no";
}

}  // namespace

Settings parse_settings(const Params& params, std::int64_t ranks, std::vector<Problem>& problems) {
  return {parse_cut(params, ranks, problems),
          variants()[params.chosen<std::size_t>("variant")],
          face_exchange(params.choice("exchange")),
          params.choice("overlap") == "yes",
          parse_memory(params),
          params.choice("precision") == "float" ? std::int64_t{sizeof(float)}
                                                : std::int64_t{sizeof(double)},
          params.integer("sweeps")};
}

Plan plan(const Params& params, const Shape& shape) {
  Plan planned;
  const auto settings = parse_settings(params, shape.ranks, planned.problems);
  if (settings.variant.name == "streaming" && !has_streaming_stores) {
    planned.problems.push_back({"variant", "streaming", "only for x86-64 processors; give plain"});
  }
  if (!planned.problems.empty()) return planned;
  const auto& cut = settings.cut;
  planned.choices["topology"] = to_string(cut.topology);
  planned.absent = exchange_missing(settings.exchange.mode);
  if (!overlaps(settings.exchange.mode)) planned.choices["overlap"] = "no";
  plan_memory(settings.memory, planned);
  if (settings.memory.on_device) plan_on_device(settings, params.choice("exchange"), planned);
  for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
    const auto values = 2 * Storage(cut.part(rank), settings.value_bytes).size() +
                        Halo<double>::memory(cut, rank, settings.exchange);
    planned.memory_bytes += static_cast<double>(settings.value_bytes) * static_cast<double>(values);
  }
  if (settings.memory.on_device) {  // and what the host fills it from
    planned.device_bytes = planned.memory_bytes;
    planned.memory_bytes *= 2;
  }
  return planned;
}

std::vector<Parameter> parameters() {
  using enum Parameter::Type;
  std::vector<Parameter> all = {
      {"L", integer, "100", "points per edge of each rank's cube, with size=cubes", "", 1, 1 << 20},
      {"size", text, "cubes",
       "number of points of the whole mesh along x, y, and z, such as 400x400x400 (strong "
       "scaling); 'cubes' means L x L x L points on each rank (weak scaling)"},
      {"topology", text, "auto",
       "grid of ranks along x, y, and z, such as 4x1x1; auto: the grid that exchanges the fewest "
       "bytes; 1d, 2d, or 3d: the most even grid of that dimension"},
      Parameter::one_of(
          "variant", "plain",
          "how sweeps are computed. plain: one sweep per pass over memory; streaming: as plain, "
          "with non-temporal stores; temporal: several sweeps per pass (see depth), in cache "
          "blocks",
          variants()),
      {"depth", integer, "0",
       "number of ghost layers, which is also the number of sweeps per exchange; 0: automatic "
       "(with variant=temporal, 8 or as many as fit; otherwise 1)",
       "", 0, 64},
      Parameter::one_of("boundary", "dirichlet",
                        "condition at the mesh boundary. dirichlet: zero outside the mesh; "
                        "periodic: opposite faces are neighbours",
                        {"dirichlet", "periodic"}),
      Parameter::one_of(
          "exchange", "nonblocking",
          "MPI calls for the face exchange; neighbor: one MPI_Neighbor_alltoallw call; "
          "derived_types: as nonblocking, but with MPI derived datatypes instead of packing",
          face_exchange_names()),
      Parameter::one_of(
          "overlap", "no",
          "whether to compute points that do not depend on ghost values while the exchange is in "
          "progress. The value is always no with exchange=blocking, sendrecv, or neighbor, and "
          "with memory=device",
          {"no", "yes"}),
      Parameter::one_of("precision", "double", "floating-point precision of the mesh values",
                        {"double", "float"}),
      {"sweeps", integer, "8", "sweeps per step", "", 1, 1e6},
  };
  for (auto& one : memory_parameters(false)) all.push_back(std::move(one));
  return all;
}

}  // namespace halobench::jacobi

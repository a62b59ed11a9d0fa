// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spmv/source.hpp"

#include <omp.h>

#include <algorithm>
#include <optional>

#include "base/as_size.hpp"
#include "base/extents.hpp"
#include "kernels/spmv/matrix_file.hpp"
#include "mpi/agreement.hpp"

namespace halobench {
namespace {

std::string file_of(const SpmvSettings& settings, std::int64_t ranks) {
  const bool parts = settings.partition == "graph";
  return settings.path + (parts ? "." + std::to_string(ranks) : "") + ".csr";
}

std::optional<Problem> problem_of_names(const SpmvSettings& settings) {
  const auto& [matrix, n, row_length, bandwidth] = settings.recipe;
  const auto& partition = settings.partition;
  if (partition == "graph" && settings.generated) {
    return Problem{"partition", partition, "only for Matrix Market files; give rows or nonzeros"};
  }
  if (partition != "rows" && partition != "nonzeros" && partition != "graph") {
    return Problem{"partition", partition, "give one of rows, nonzeros, graph"};
  }
  const bool three = matrix.starts_with("3d");
  if (settings.generated && matrix.starts_with(three ? "3d" : "2d") &&
      !volume({n, n, three ? n : 1})) {
    return Problem{"n", std::to_string(n), "the matrix would have more than 2^63 - 1 rows"};
  }
  return std::nullopt;
}

double memory_of(const SparseRows& source, const SpmvSettings& settings, double ranks) {
  const auto rows = static_cast<double>(source.rows());
  const auto reach = 2 * static_cast<double>(source.reach());
  const double own = rows / ranks;
  const double nonzeros = source.nonzeros() / ranks;
  const double coupled = ranks > 1 ? std::min(own, reach) : 0;
  const double ghosts = std::min({rows - own, reach, nonzeros});
  const double vectors = source.whole() ? 32 : 40;  // where rows begin, x, y, expected, its error
  const double with_place = settings.overlap == Overlap::split_temporary ? 20 : 12;
  const double set_up = 48;  // of a ghost: the forest's edges and lists
  // The block's lists of columns, and until they are stored a map of them: few for a stencil.
  const auto& matrix = settings.recipe.name;
  const bool few = settings.generated && (matrix.starts_with("2d") || matrix.starts_with("3d"));
  const double lists =
      settings.shared_columns ? 4 * own + (few ? -4 * nonzeros : 8 * nonzeros + 112 * own) : 0;
  return ranks *
         (lists + 12 * nonzeros + vectors * own + with_place * coupled + (8 + set_up) * ghosts);
}

/// Collective: every rank has it, or all throw.
std::unique_ptr<MatrixFile> opened(const Communicator& comm, const std::string& path) {
  std::unique_ptr<MatrixFile> file;
  std::string problem;
  try {
    file = std::make_unique<MatrixFile>(path);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  refuse_together(comm, problem);
  return file;
}

/// Of this rank's share of the rows, each thread some.
MatrixFile::Checked check_share(const Communicator& comm, const MatrixFile& file) {
  const auto own = share({0, file.rows()}, comm.size(), comm.rank());
  std::vector<MatrixFile::Checked> checked(as_size(omp_get_max_threads()));
#pragma omp parallel for schedule(static, 1)
  for (std::size_t thread = 0; thread < checked.size(); ++thread) {
    const auto rows = share(own, std::ssize(checked), static_cast<std::int64_t>(thread));
    try {
      if (rows.size() > 0) checked[thread] = file.check(rows);
    } catch (const std::exception& error) {
      checked[thread].problem = error.what();
    }
  }
  MatrixFile::Checked all;
  for (const auto& part : checked) {
    if (all.problem.empty()) all.problem = part.problem;
    all.checksum += part.checksum;
  }
  return all;
}

/// Collective: throws on every rank where any finds fault with its share of the rows.
void check_together(const Communicator& comm, const MatrixFile& file) {
  const auto refused = [&](const std::string& what) {
    return what.empty() ? "" : file.path() + ": " + what + "; " + MatrixFile::how_to_make;
  };
  auto own = check_share(comm, file);
  refuse_together(comm, refused(own.problem));
  check(MPI_Allreduce(MPI_IN_PLACE, &own.checksum, 1, MPI_UINT64_T, MPI_SUM, comm.handle()),
        "MPI_Allreduce");
  const bool same = own.checksum == file.checksum();
  refuse_together(comm, refused(same ? "" : "damaged: wrong checksum"));
}

/// What is wrong with the memory; a device's has a copy of all that the host fills.
void plan_device(const SpmvSettings& settings, Plan& plan) {
  const bool on_device = settings.memory.on_device;
  plan_memory(settings.memory, plan);
  if (on_device) {
    plan.device_bytes = plan.memory_bytes;
    plan.memory_bytes *= 2;
  }
  if (settings.shared_columns && on_device) {
    plan.problems.push_back(
        {"columns", "shared", "only in the host's memory; give columns=stored, or memory=host"});
  }
  if (settings.overlap == Overlap::early_launch && !on_device) {
    plan.problems.push_back(
        {"overlap", "early_launch",
         "early_launch needs a device; give memory=device, or none, split, split_temporary"});
  }
}

}  // namespace

Source make_source(const Context& context, const SpmvSettings& settings) {
  if (settings.generated) return {generated_rows(settings.recipe), {}};
  auto file = opened(context.comm, file_of(settings, context.comm.size()));
  check_together(context.comm, *file);
  auto parts = file->parts();
  return {std::move(file), std::move(parts)};
}

Begins make_begins(const Context& context, const SpmvSettings& settings, const Source& source) {
  const std::int64_t workers = std::int64_t{context.comm.size()} * context.meter.threads();
  const auto& partition = settings.partition;
  if (partition == "graph") return cut_parts(source.parts, context.meter.threads());
  if (partition == "nonzeros") return cut_by_nonzeros(context.comm, *source.rows, workers);
  return cut_by_rows(source.rows->rows(), workers);
}

Plan plan_spmv(const Params& params, const Shape& shape) {
  Plan plan;
  const auto settings = parse_spmv(params);
  const auto& matrix = settings.recipe.name;
  if (const auto problem = problem_of_names(settings)) {
    plan.problems.push_back(*problem);
    return plan;
  }
  try {
    const auto ranks = static_cast<double>(shape.ranks);
    if (settings.generated) {
      plan.memory_bytes = memory_of(*generated_rows(settings.recipe), settings, ranks);
      plan_device(settings, plan);
      return plan;
    }
    const MatrixFile file(file_of(settings, shape.ranks));
    const auto parts = std::ssize(file.parts()) - 1;
    if (settings.partition == "graph" && parts != shape.ranks) {
      plan.problems.push_back({"matrix", matrix,
                               "made for " + std::to_string(std::max<std::int64_t>(parts, 0)) +
                                   " ranks, not for " + std::to_string(shape.ranks)});
    }
    plan.memory_bytes = memory_of(file, settings, ranks);
    plan_device(settings, plan);
  } catch (const UsageError& error) {
    std::string names;
    for (const auto& name : recipe_names()) names += name + ", ";
    plan.problems.push_back(
        {"matrix", matrix,
         "give " + names + "or a Matrix Market file (NAME.mtx, NAME.mtx.gz): " + error.what()});
  }
  return plan;
}

}  // namespace halobench

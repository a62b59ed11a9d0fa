// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spmv/partition.hpp"

#include <algorithm>

#include "base/as_size.hpp"

namespace halobench {

Begins cut_by_rows(std::int64_t rows, std::int64_t workers) {
  return cut_parts({0, rows}, workers);
}

Begins cut_by_nonzeros(const Communicator& comm, const SparseRows& source, std::int64_t workers) {
  const auto own = share({0, source.rows()}, comm.size(), comm.rank());
  std::vector<std::int64_t> counted{0};
  source.visit(own, [&](std::int64_t, std::span<const Entry> entries) {
    counted.push_back(counted.back() + std::ssize(entries));
  });
  const std::int64_t here = counted.back();
  std::int64_t before = 0;
  check(MPI_Exscan(&here, &before, 1, MPI_INT64_T, MPI_SUM, comm.handle()), "MPI_Exscan");
  if (comm.rank() == 0) before = 0;
  const auto all = comm.sum(here);
  Begins begins(as_size(workers) + 1, 0);
  begins.back() = source.rows();
  for (std::int64_t worker = 1; worker < workers; ++worker) {
    const auto nonzero = share({0, all}, workers, worker).begin - before;  // the first of its share
    if (nonzero <= 0 || nonzero > here) continue;  // some other rank has this row
    const auto found = std::ranges::lower_bound(counted, nonzero);
    begins[as_size(worker)] = own.begin + (found - counted.begin());
  }
  check(MPI_Allreduce(MPI_IN_PLACE, begins.data(), static_cast<int>(begins.size()), MPI_INT64_T,
                      MPI_MAX, comm.handle()),
        "MPI_Allreduce");
  return begins;
}

Begins cut_parts(const Begins& parts, std::int64_t threads) {
  Begins begins;
  for (std::size_t part = 0; part + 1 < parts.size(); ++part) {
    for (std::int64_t thread = 0; thread < threads; ++thread) {
      begins.push_back(share({parts[part], parts[part + 1]}, threads, thread).begin);
    }
  }
  begins.push_back(parts.back());
  return begins;
}

}  // namespace halobench

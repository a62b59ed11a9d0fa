// SPDX-License-Identifier: BSD-3-Clause
// An answer that contains NaN is refused, at any position and on any rank: largest errors do not
// ignore it.
#include <cmath>
#include <limits>

#include "command.hpp"
#include "expect.hpp"
#include "kernels/fe_heat/answer.hpp"
#include "kernels/fft_pencil/answer.hpp"
#include "kernels/fft_pencil/settings.hpp"
#include "kernels/poisson_cg/answer.hpp"

using halobench::as_size;
using halobench::Communicator;
using halobench::Environment;
using halobench::Memory;
using halobench::Meter;
using halobench::Params;
using halobench::Problem;
using halobench::cg::Limits;
using halobench::cg::Progress;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// What instances of a kernel need.
struct Surroundings {
  Surroundings(const Communicator& comm, const std::string& kernel,
               const std::vector<std::string>& arguments = {})
      : params(halobench::find_kernel(kernel).parameters, arguments, problems),
        context{comm, params, meter, memory} {}

  std::vector<Problem> problems;
  Params params;
  Meter meter{Meter::Setting{}};
  Memory memory{false};
  halobench::Context context;
};

/// Of a solve that took its own residual for small enough, and of one that was to be short.
std::vector<Limits> both_limits() {
  return {{.tolerance = 1e-6, .most = 10, .patience = 10}, {.iterations = 1}};
}

Progress ended(const Limits& limits) {
  Progress progress(limits);
  progress.wants_more(1);
  progress.wants_more(0.25e-12);
  return progress;
}

/// Runs refused() with each rank's values in turn replaced by NaN, one at a time.
template <class Refused>
void poison(const Communicator& comm, double* values, std::int64_t count, const Refused& refused) {
  for (int rank = 0; rank < comm.size(); ++rank) {
    const bool own = rank == comm.rank();
    const auto most = comm.sum(own ? count : 0);
    for (std::int64_t i = 0; i < most; ++i) {
      const double before = own ? values[i] : 0;
      if (own) values[i] = no_number;
      expect::is_true(refused(), "value " + std::to_string(i) + " of rank " + std::to_string(rank));
      if (own) values[i] = before;
    }
  }
}

void of_poissons_equation(const Communicator& comm) {
  constexpr std::int64_t n = 6;
  Surroundings around(comm, "poisson_cg");
  const halobench::Poisson problem(n);
  halobench::cg::Domain domain(around.context,
                               {n, halobench::RankGrid(halobench::most_even(comm.size(), 1))}, 4,
                               halobench::ExchangeMode::nonblocking);
  domain.start_from_zero(problem);
  for (const auto& strip : domain.strips()) {
    for (std::int64_t row = 0; row < n / comm.size(); ++row) {
      poison(comm, strip.x.row(row), n, [&] {
        const auto answer = examine(comm, domain, problem);
        bool refused = std::isinf(answer.error_max);
        for (const auto& limits : both_limits()) {
          refused &= !fault(answer, ended(limits), limits, problem).empty();
        }
        return refused;
      });
    }
  }
}

void of_heat(const Communicator& comm) {
  const halobench::Extents elements{4, 4, 4};
  Surroundings around(comm, "fe_heat");
  halobench::heat::Solver solver(around.context, halobench::heat::Bisection(elements, comm.size()),
                                 "csr");
  solver.assemble();
  Progress progress({.tolerance = 1e-8, .most = 50, .patience = 50});
  solver.solve(progress);
  const auto refused = [&] {
    const auto answer = examine(comm, solver);
    bool all = true;
    for (const auto& limits : both_limits()) {
      all &= !fault(answer, ended(limits), limits, elements).empty();
    }
    return all;
  };
  const auto& part = solver.part();
  const auto most = [&](std::size_t axis) {
    return comm.max(static_cast<double>(part.size(axis)));
  };
  auto* x = const_cast<double*>(solver.x());
  for (std::int64_t z = 0; static_cast<double>(z) < most(2); ++z) {
    for (std::int64_t y = 0; static_cast<double>(y) < most(1); ++y) {
      const bool own = y < part.size(1) && z < part.size(2);
      poison(comm, own ? x + part.places().of(0, y, z) : x, own ? part.size(0) : 0, refused);
    }
  }
}

void of_transforms_there_and_back(const Communicator& comm) {
  Surroundings around(comm, "fft_pencil", {"size=4x4x4"});
  const halobench::fft::Store store(
      around.context,
      halobench::fft::parse_settings(around.params, {comm.size()}, around.problems).pencils);
  const auto count = store.planes() * store.y().size() * 4;
  std::fill_n(store.in(), count, 1.0);
  std::fill_n(store.out(), count, 64.0);
  const auto error = [&] { return comm.max(round_trip_error(store)); };
  expect::equal(error(), 0.0);
  poison(comm, store.out(), count, [&] { return std::isinf(error()); });
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  of_poissons_equation(comm);
  of_heat(comm);
  of_transforms_there_and_back(comm);
  return expect::exit_code();
}

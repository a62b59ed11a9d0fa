// The star forest's kernels in a memory apart from the host's: they fill and check it through the
// space alone, so that their answers are right there, too.
#include "apart_space.hpp"
#include "expect.hpp"
#include "kernels/sf_grid.hpp"
#include "kernels/star_forest/pair.hpp"

using namespace halobench;

namespace {

/// Each point of a small case: steps, then their check, which must find nothing wrong.
void answers_are_right(const Communicator& comm, const Kernel& kernel, const CaseArguments& small) {
  std::vector<Problem> problems;
  const Params params(kernel.all_parameters(), small, problems);
  expect::equal(problems.size(), 0U);
  expect::equal(kernel.plan_for(params, {comm.size(), 1}).problems.size(), 0U);
  Meter meter{Meter::Setting{}};
  Memory memory{false};
  const auto instance = kernel.setup({comm, params, meter, memory});
  for (std::size_t point = 0; point < instance->points(); ++point) {
    instance->select(point);
    instance->prepare();
    for (int step = 0; step < 3; ++step) instance->step();
    expect::equal(instance->verify().reason, "");
    for (std::size_t part = 0; part < instance->parts().size(); ++part) instance->run_part(part);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Environment environment(argc, argv);
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<Kernel> kernels{sf_grid_in(make_apart_space)};
  for (const auto& test :
       {PairTest{.name = "one buffer", .summary = "", .section = ""},
        PairTest{.name = "two buffers", .summary = "", .section = "", .two_buffers = true},
        PairTest{.name = "sums", .summary = "", .section = "", .adds = true},
        PairTest{
            .name = "own leaves", .summary = "", .section = "", .adds = true, .local = true}}) {
    kernels.push_back(pair_kernel(test, make_apart_space));
  }
  for (const auto& kernel : kernels) {
    if (comm.size() < kernel.least_ranks) continue;
    for (const auto& small : kernel.small) answers_are_right(comm, kernel, small);
  }
  return expect::exit_code();
}

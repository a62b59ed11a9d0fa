// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a program: HALOBENCH_KERNEL, or all. Nothing is included: it is compiled for each.
namespace halobench {

struct Kernel;
using MakeKernel = Kernel();

#ifdef HALOBENCH_KERNEL
MakeKernel HALOBENCH_KERNEL;
extern MakeKernel* const kernel_makers[] = {HALOBENCH_KERNEL, nullptr};
#else
#define KERNEL(name) MakeKernel name;
#include "kernels.def"
#undef KERNEL
#define KERNEL(name) name,
extern MakeKernel* const kernel_makers[] = {
#include "kernels.def"
    nullptr};
#endif

}  // namespace halobench

// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a program: HALOBENCH_KERNEL, or all. Nothing is included: it is compiled for each.
namespace halobench {

struct Kernel;
using MakeKernel = Kernel();

#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)
#ifdef HALOBENCH_KERNEL
MakeKernel HALOBENCH_KERNEL;
extern MakeKernel* const kernel_makers[] = {HALOBENCH_KERNEL, nullptr};
extern const char* const kernel_names[] = {TEXT_OF(HALOBENCH_KERNEL)};
#else
#define KERNEL(name) MakeKernel name;
#include "kernels.def"
#undef KERNEL
#define KERNEL(name) name,
extern MakeKernel* const kernel_makers[] = {
#include "kernels.def"
    nullptr};
#undef KERNEL
#define KERNEL(name) #name,
extern const char* const kernel_names[] = {
#include "kernels.def"
};
#endif

}  // namespace halobench

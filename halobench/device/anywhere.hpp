// SPDX-License-Identifier: BSD-3-Clause
// Marks functions that a device runs, too, where its compiler reads them.
#pragma once

/// HALOBENCH_ANYWHERE marks a function that both the host and a device may call. For the host's
/// compiler, which has no other place, it is empty.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define HALOBENCH_ANYWHERE __host__ __device__
#else
#define HALOBENCH_ANYWHERE
#endif

// SPDX-License-Identifier: BSD-3-Clause
// Sanitized builds leave out what the library takes in MPI_Init, and look for leaks just before
// MPI_Finalize: what the library holds is still reachable then, and its plug-ins are still loaded,
// so that leaks.supp can name them.
#include <mpi.h>
#include <sanitizer/lsan_interface.h>

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const __lsan::ScopedDisabler disabler;
  return PMPI_Init_thread(argc, argv, required, provided);
}

extern "C" int MPI_Finalize() {
  __lsan_do_leak_check();
  return PMPI_Finalize();
}

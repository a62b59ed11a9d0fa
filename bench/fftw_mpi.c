// SPDX-License-Identifier: BSD-3-Clause
/* The peer of fft_pencil: FFTW's own MPI transform of real values in three dimensions, slabs, forward
   with its output transposed and backward with its input so, plans measured.

   usage: fftw_mpi -size 256x256x256 [-repetitions 5]; prints one JSON line: the median over
   repetitions of the longest rank's seconds there and back, and the largest error of the way. */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

int main(int argc, char **argv) {
  ptrdiff_t nx = 0, ny = 0, nz = 0;
  int repetitions = 5, rank = 0;

  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "-size")) sscanf(argv[i + 1], "%tdx%tdx%td", &nx, &ny, &nz);
    if (!strcmp(argv[i], "-repetitions")) repetitions = atoi(argv[i + 1]);
  }
  if (nx < 1 || ny < 1 || nz < 1 || repetitions < 1) {
    if (!rank) fprintf(stderr, "usage: fftw_mpi -size 256x256x256 [-repetitions 5]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }

  ptrdiff_t planes, first, rows, row;
  const ptrdiff_t values =
      fftw_mpi_local_size_3d_transposed(nx, ny, nz / 2 + 1, MPI_COMM_WORLD, &planes, &first, &rows, &row);
  const ptrdiff_t padded = 2 * (nz / 2 + 1), lines = planes * ny;
  double *data = fftw_alloc_real((size_t)(2 * values));
  fftw_complex *spectrum = fftw_alloc_complex((size_t)values);
  double *seconds = malloc((size_t)repetitions * sizeof *seconds);
  const fftw_plan there = fftw_mpi_plan_dft_r2c_3d(nx, ny, nz, data, spectrum, MPI_COMM_WORLD,
                                                   FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT);
  const fftw_plan back = fftw_mpi_plan_dft_c2r_3d(nx, ny, nz, spectrum, data, MPI_COMM_WORLD,
                                                  FFTW_MEASURE | FFTW_MPI_TRANSPOSED_IN);

  double error = 0, largest = 0;
  for (int repetition = -1; repetition < repetitions; repetition++) { /* the first is not counted */
    for (ptrdiff_t line = 0; line < lines; line++)
      for (ptrdiff_t z = 0; z < nz; z++)
        data[line * padded + z] = sin((double)((first * ny + line) * nz + z));
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed = -MPI_Wtime();
    fftw_execute(there);
    fftw_execute(back);
    elapsed += MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, &elapsed, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (repetition >= 0) seconds[repetition] = elapsed;
  }
  for (ptrdiff_t line = 0; line < lines; line++)
    for (ptrdiff_t z = 0; z < nz; z++)
      error = fmax(error, fabs(data[line * padded + z] / (double)(nx * ny * nz) -
                               sin((double)((first * ny + line) * nz + z))));
  MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  qsort(seconds, (size_t)repetitions, sizeof *seconds, ascending);
  if (!rank) printf("{\"seconds\": %.9g, \"error\": %.3g}\n", seconds[repetitions / 2], largest);

  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return largest < 1e-12 ? 0 : 1;
}

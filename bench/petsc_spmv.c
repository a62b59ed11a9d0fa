// SPDX-License-Identifier: BSD-3-Clause
/* The peer of spmv: PETSc's MatMult with an assembled AIJ matrix, a stencil on a square or cube with
   x fastest, rows in equal blocks over ranks; neighbours -1, and on the diagonal as many as a point
   inside has.

   usage: petsc_spmv -points 27 -n 100 [-repetitions 20]; prints one JSON line: the median over
   repetitions of the longest rank's seconds, rows, nonzeros, and the sum of y for x = 1. */
#include <petscmat.h>
#include <stdlib.h>

typedef struct {
  PetscInt n, points, depth;
} Stencil;

/* The entries of a row; returns how many. */
static PetscInt row_of(const Stencil *s, PetscInt row, PetscInt *columns, PetscScalar *values) {
  const PetscInt n = s->n, x = row % n, y = row / n % n, z = row / n / n;
  const PetscBool corners = (PetscBool)(s->points == 9 || s->points == 27);
  const PetscInt planes = s->depth > 1 ? 1 : 0;
  PetscInt count = 0;

  for (PetscInt k = -planes; k <= planes; k++) {
    for (PetscInt j = -1; j <= 1; j++) {
      for (PetscInt i = -1; i <= 1; i++) {
        if (!corners && labs(i) + labs(j) + labs(k) > 1) continue;
        if (x + i < 0 || x + i >= n || y + j < 0 || y + j >= n) continue;
        if (z + k < 0 || z + k >= s->depth) continue;
        columns[count] = row + i + n * (j + n * k);
        values[count++] = i || j || k ? -1.0 : (PetscScalar)(s->points - 1);
      }
    }
  }
  return count;
}

static PetscErrorCode assemble(const Stencil *s, Mat *A) {
  const PetscInt rows = s->n * s->n * s->depth;
  PetscInt first, last, columns[27];
  PetscScalar values[27];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, s->points, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, s->points, NULL, s->points, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt row = first; row < last; row++) {
    const PetscInt count = row_of(s, row, columns, values);
    PetscCall(MatSetValues(*A, 1, &row, count, columns, values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static int ascending(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* Each repetition begins at a barrier and takes as long as the slowest rank. */
static PetscErrorCode measure(Mat A, Vec x, Vec y, PetscInt repetitions, double *seconds) {
  double *times;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(repetitions, &times));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(A, x, y));
  for (PetscInt i = 0; i < repetitions; i++) {
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    const double start = MPI_Wtime();
    PetscCall(MatMult(A, x, y));
    times[i] = MPI_Wtime() - start;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &times[i], 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  }
  qsort(times, (size_t)repetitions, sizeof(double), ascending);
  *seconds = repetitions % 2 ? times[repetitions / 2]
                             : 0.5 * (times[repetitions / 2 - 1] + times[repetitions / 2]);
  PetscCall(PetscFree(times));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  Stencil s = {100, 27, 1};
  PetscInt repetitions = 20;
  double seconds = 0.0;
  PetscScalar sum = 0.0;
  MatInfo info;
  Mat A;
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &s.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-points", &s.points, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repetitions", &repetitions, NULL));
  if (s.points == 7 || s.points == 27) s.depth = s.n;
  PetscCall(assemble(&s, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(measure(A, x, y, repetitions, &seconds));
  PetscCall(VecSum(y, &sum));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "{\"seconds\": %.9g, \"rows\": %.0f, \"nonzeros\": %.0f, \"sum\": %.17g}\n",
                        seconds, (double)s.n * (double)s.n * (double)s.depth, info.nz_used, sum));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

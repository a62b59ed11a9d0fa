// SPDX-License-Identifier: BSD-3-Clause
/* The peer of poisson_cg: PETSc's KSPCG on the same problem, with an assembled matrix on a DMDA and
   no preconditioner. Solves to a relative residual of 1e-6, or a fixed number of iterations.

   usage: petsc_cg -n 1024 [-iterations 200]; prints one JSON line: seconds, iterations, error_max. */
#include <petscdmda.h>
#include <petscksp.h>

static PetscScalar exact(PetscReal x, PetscReal y) {
  return PetscSqr(PetscSinReal(PETSC_PI * x)) * PetscSqr(PetscSinReal(PETSC_PI * y));
}

static PetscScalar source(PetscReal x, PetscReal y) {
  return -2.0 * PetscSqr(PETSC_PI) *
         (PetscCosReal(2.0 * PETSC_PI * x) * PetscSqr(PetscSinReal(PETSC_PI * y)) +
          PetscSqr(PetscSinReal(PETSC_PI * x)) * PetscCosReal(2.0 * PETSC_PI * y));
}

static PetscErrorCode assemble(DM da, PetscInt n, Mat A, Vec b, Vec u) {
  DMDALocalInfo info;
  PetscScalar **rhs, **sol;
  const PetscReal h = 1.0 / (PetscReal)(n + 1);

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(DMDAVecGetArray(da, b, &rhs));
  PetscCall(DMDAVecGetArray(da, u, &sol));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      const MatStencil row = {.j = j, .i = i};
      MatStencil cols[5] = {row};
      PetscScalar values[5] = {4.0};
      PetscInt count = 1;
      if (i > 0) cols[count] = (MatStencil){.j = j, .i = i - 1}, values[count++] = -1.0;
      if (i < n - 1) cols[count] = (MatStencil){.j = j, .i = i + 1}, values[count++] = -1.0;
      if (j > 0) cols[count] = (MatStencil){.j = j - 1, .i = i}, values[count++] = -1.0;
      if (j < n - 1) cols[count] = (MatStencil){.j = j + 1, .i = i}, values[count++] = -1.0;
      PetscCall(MatSetValuesStencil(A, 1, &row, count, cols, values, INSERT_VALUES));
      rhs[j][i] = h * h * source((PetscReal)(i + 1) * h, (PetscReal)(j + 1) * h);
      sol[j][i] = exact((PetscReal)(i + 1) * h, (PetscReal)(j + 1) * h);
    }
  }
  PetscCall(DMDAVecRestoreArray(da, u, &sol));
  PetscCall(DMDAVecRestoreArray(da, b, &rhs));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  PetscInt n = 1024, iterations = 0, done = 0;
  PetscReal error = 0.0;
  PetscLogDouble start = 0.0, end = 0.0;
  DM da;
  Mat A;
  Vec b, u, x;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &iterations, NULL));
  /* strips of whole rows, as poisson_cg's default decomposition */
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n,
                         n, 1, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &u));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(assemble(da, n, A, b, u));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetTolerances(ksp, iterations > 0 ? 1e-300 : 1e-6, 1e-300, PETSC_DEFAULT,
                             iterations > 0 ? iterations : 10 * n + 100));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  start = MPI_Wtime();
  PetscCall(KSPSolve(ksp, b, x));
  end = MPI_Wtime() - start;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(KSPGetIterationNumber(ksp, &done));
  PetscCall(VecAXPY(x, -1.0, u));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "{\"seconds\": %.9g, \"iterations\": %d, \"error_max\": %.5e}\n",
                        end, (int)done, (double)error));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}

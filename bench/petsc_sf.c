// SPDX-License-Identifier: BSD-3-Clause
/* The peer of the sf_* kernels: PetscSF and DMDA in the same tests, timed as halobench times them: as
   many steps as last a millisecond, 20 repetitions, the slowest rank's time, the median.

   usage: petsc_sf -test pingpong|newpingpong|unpack|scatter -sizes 8,64 | -test grid -sizes 4,64
          -px 2 -py 1 | -test setup -graph next|grid|random
   prints one JSON line: {"SIZE": seconds of a step, ...}; setup: seconds of PetscSFSetUp alone, and
   with PetscSFSetGraph. */
#include <petscdmda.h>
#include <petscsf.h>

#define REPETITIONS 20
#define SETUPS 5
#define LEAVES 1000000
#define SIDE 1000 /* of the grid with so many points */

typedef struct {
  PetscSF sf;
  PetscScalar *roots, *leaves;
  PetscBool two_buffers;
  MPI_Op op;
  DM da;
  Vec global, local;
} Test;

static PetscErrorCode Step(Test *t) {
  PetscScalar *roots = t->roots, *leaves = t->leaves;

  PetscFunctionBeginUser;
  if (t->da) {
    PetscCall(DMGlobalToLocalBegin(t->da, t->global, INSERT_VALUES, t->local));
    PetscCall(DMGlobalToLocalEnd(t->da, t->global, INSERT_VALUES, t->local));
    PetscCall(DMLocalToGlobalBegin(t->da, t->local, ADD_VALUES, t->global));
    PetscCall(DMLocalToGlobalEnd(t->da, t->local, ADD_VALUES, t->global));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscSFBcastBegin(t->sf, MPIU_SCALAR, roots, leaves, t->op));
  PetscCall(PetscSFBcastEnd(t->sf, MPIU_SCALAR, roots, leaves, t->op));
  if (t->two_buffers) roots = t->leaves, leaves = t->roots;
  PetscCall(PetscSFReduceBegin(t->sf, MPIU_SCALAR, leaves, roots, t->op));
  PetscCall(PetscSFReduceEnd(t->sf, MPIU_SCALAR, leaves, roots, t->op));
  PetscFunctionReturn(0);
}

static PetscErrorCode Steps(Test *t, PetscInt steps, PetscReal *seconds) {
  double time;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  time = MPI_Wtime();
  for (PetscInt i = 0; i < steps; i++) PetscCall(Step(t));
  time = MPI_Wtime() - time;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  *seconds = time;
  PetscFunctionReturn(0);
}

static PetscReal Median(PetscReal *values, PetscInt count) {
  PetscCallAbort(PETSC_COMM_SELF, PetscSortReal(count, values));
  return 0.5 * (values[count / 2] + values[(count - 1) / 2]);
}

static PetscErrorCode Measure(Test *t, PetscInt size, const char *before) {
  PetscInt steps = 1;
  PetscReal one, other, times[REPETITIONS], done;

  PetscFunctionBeginUser;
  for (;; steps *= 2) {
    PetscCall(Steps(t, steps, &one));
    PetscCall(Steps(t, steps, &other));
    if (PetscMin(one, other) >= 1e-3) break;
  }
  for (PetscInt i = 0; i < REPETITIONS; i++) {
    PetscCall(Steps(t, 2, &done)); /* warm up */
    PetscCall(Steps(t, steps, &times[i]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\"%d\": %.9g", before, (int)size,
                        (double)(Median(times, REPETITIONS) / (PetscReal)steps)));
  PetscFunctionReturn(0);
}

static PetscErrorCode Pair(const char *name, PetscInt bytes, const char *before) {
  Test t = {0};
  PetscMPIInt rank;
  PetscInt n = bytes / (PetscInt)sizeof(PetscScalar), leaves;
  PetscSFNode *remote;
  PetscBool adds, local;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscStrcmp(name, "scatter", &local));
  PetscCall(PetscStrcmp(name, "unpack", &adds));
  PetscCall(PetscStrcmp(name, "pingpong", &t.two_buffers));
  t.op = adds || local ? MPI_SUM : MPI_REPLACE;
  leaves = rank == 1 || (rank == 0 && local) ? n : 0;
  PetscCall(PetscMalloc1(leaves, &remote));
  for (PetscInt i = 0; i < leaves; i++) remote[i].rank = 0, remote[i].index = i;
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &t.sf));
  PetscCall(PetscSFSetGraph(t.sf, rank == 0 ? n : 0, leaves, NULL, PETSC_OWN_POINTER, remote,
                            PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(t.sf));
  PetscCall(PetscMalloc2(n, &t.roots, n, &t.leaves));
  for (PetscInt i = 0; i < n; i++) t.roots[i] = t.leaves[i] = 1.0;
  PetscCall(Measure(&t, bytes, before));
  PetscCall(PetscFree2(t.roots, t.leaves));
  PetscCall(PetscSFDestroy(&t.sf));
  PetscFunctionReturn(0);
}

static PetscErrorCode Grid(PetscInt n, PetscInt px, PetscInt py, const char *before) {
  Test t = {0};
  const DMBoundaryType bt = DM_BOUNDARY_PERIODIC;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, bt, bt, DMDA_STENCIL_STAR, px * n, py * n, px, py, 1, 1,
                         NULL, NULL, &t.da));
  PetscCall(DMSetUp(t.da));
  PetscCall(DMCreateGlobalVector(t.da, &t.global));
  PetscCall(DMCreateLocalVector(t.da, &t.local));
  PetscCall(VecSet(t.global, 1.0));
  PetscCall(Measure(&t, n, before));
  PetscCall(VecDestroy(&t.local));
  PetscCall(VecDestroy(&t.global));
  PetscCall(DMDestroy(&t.da));
  PetscFunctionReturn(0);
}

/* The graphs of sf_setup.cpp. */
static PetscErrorCode Setup(const char *graph, const char *before) {
  PetscMPIInt rank, size;
  PetscBool next, grid;
  PetscInt *leaves = NULL;
  PetscSFNode *remote;
  PetscReal alone[SETUPS], both[SETUPS];
  uint64_t random;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscStrcmp(graph, "next", &next));
  PetscCall(PetscStrcmp(graph, "grid", &grid));
  PetscCall(PetscMalloc1(LEAVES, &remote));
  if (grid) PetscCall(PetscMalloc1(LEAVES, &leaves));
  random = 1 + (uint64_t)rank;
  for (PetscInt i = 0; i < LEAVES; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    remote[i].rank = next || grid ? (rank + 1) % size : (PetscInt)((random >> 33) % (uint64_t)size);
    remote[i].index = next || grid ? i : (PetscInt)((random >> 40) % LEAVES);
    if (grid) leaves[i] = i % SIDE + 1 + (i / SIDE + 1) * (SIDE + 2);
  }
  for (PetscInt i = 0; i < SETUPS; i++) {
    PetscSF sf;
    double start, middle, seconds[2];

    PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &sf));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    start = MPI_Wtime();
    PetscCall(PetscSFSetGraph(sf, LEAVES, LEAVES, leaves, PETSC_COPY_VALUES, remote,
                              PETSC_COPY_VALUES));
    middle = MPI_Wtime();
    PetscCall(PetscSFSetUp(sf));
    seconds[0] = MPI_Wtime() - middle;
    seconds[1] = MPI_Wtime() - start;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    alone[i] = seconds[0];
    both[i] = seconds[1];
    PetscCall(PetscSFDestroy(&sf));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\"setup\": %.9g, \"graph and setup\": %.9g", before,
                        (double)Median(alone, SETUPS), (double)Median(both, SETUPS)));
  PetscCall(PetscFree(leaves));
  PetscCall(PetscFree(remote));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  char test[32] = "pingpong", graph[32] = "next";
  PetscInt sizes[64], count = 64, px = 1, py = 1;
  PetscBool grid, setup;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test", test, sizeof test, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-graph", graph, sizeof graph, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &count, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-px", &px, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-py", &py, NULL));
  PetscCall(PetscStrcmp(test, "grid", &grid));
  PetscCall(PetscStrcmp(test, "setup", &setup));
  if (setup) PetscCall(Setup(graph, "{"));
  for (PetscInt i = 0; !setup && i < count; i++) {
    if (grid) PetscCall(Grid(sizes[i], px, py, i ? ", " : "{"));
    else PetscCall(Pair(test, sizes[i], i ? ", " : "{"));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "}\n"));
  PetscCall(PetscFinalize());
  return 0;
}

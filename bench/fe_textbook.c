// SPDX-License-Identifier: BSD-3-Clause
/* The peer of fe_heat, as textbooks have it, on one core: heat conduction in the unit cube with n x n
   x n linear hexahedra, the same nodes eliminated. Rows of the matrix lie in compressed sparse rows
   with 64-bit indices, columns sorted; elements are added one after the other, each entry searched
   in its row. Then conjugate gradients: a product, two dot products, three vector updates, a loop
   each.

   usage: fe_textbook -n 100 -iterations 50; prints one JSON line: seconds to make the matrix (the
   second time, when its memory was touched), seconds of an iteration, the relative residual. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  int64_t n, rows;
  int64_t *begin, *columns;
  double *values, *b;
} System;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Every page is written, so that none is missing when something is timed. */
static void *touched(size_t count, size_t size) {
  void *memory = malloc(count * size);
  if (memory == NULL) {
    fprintf(stderr, "no memory for %zu bytes\n", count * size);
    exit(2);
  }
  return memset(memory, 1, count * size);
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The row of node (i, j, k) of 0 to n, or -1 on a face. */
static int64_t row_of(int64_t n, int64_t i, int64_t j, int64_t k) {
  if (i == 0 || j == 0 || k == 0 || i == n || j == n || k == n) return -1;
  return (i - 1) + (n - 1) * ((j - 1) + (n - 1) * (k - 1));
}

/* Corners of an element of edge h that differ along 0, 1, 2 or 3 axes: what Gauss points give. */
static double entry(double h, int a, int b) {
  const double by_axes[] = {1.0 / 3, 0.0, -1.0 / 12, -1.0 / 12};
  return h * by_axes[__builtin_popcount((unsigned)(a ^ b))];
}

static void generate(System *s) {
  int64_t stored = 0;
  const int64_t n = s->n;
  for (int64_t k = 1; k < n; ++k) {
    for (int64_t j = 1; j < n; ++j) {
      for (int64_t i = 1; i < n; ++i) {
        s->begin[row_of(n, i, j, k)] = stored;
        for (int64_t z = larger(k - 1, 1); z <= smaller(k + 1, n - 1); ++z) {
          for (int64_t y = larger(j - 1, 1); y <= smaller(j + 1, n - 1); ++y) {
            for (int64_t x = larger(i - 1, 1); x <= smaller(i + 1, n - 1); ++x) {
              s->columns[stored++] = row_of(n, x, y, z);
            }
          }
        }
      }
    }
  }
  s->begin[s->rows] = stored;
}

static void add(System *s, int64_t row, int64_t column, double value) {
  int64_t low = s->begin[row];
  int64_t high = s->begin[row + 1];
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (s->columns[middle] < column) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  s->values[low] += value;
}

static void assemble(System *s) {
  const int64_t n = s->n;
  double matrix[8][8];
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) matrix[a][b] = entry(1.0 / (double)n, a, b);
  }
  memset(s->values, 0, (size_t)s->begin[s->rows] * sizeof(double));
  memset(s->b, 0, (size_t)s->rows * sizeof(double));
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < n; ++i) {
        int64_t rows[8];
        for (int c = 0; c < 8; ++c) rows[c] = row_of(n, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
        for (int a = 0; a < 8; ++a) {
          if (rows[a] < 0) continue;
          for (int b = 0; b < 8; ++b) {
            if (rows[b] >= 0) {
              add(s, rows[a], rows[b], matrix[a][b]);
            } else if (i + (b & 1) == n) { /* T = 1 there, 0 on the other faces */
              s->b[rows[a]] -= matrix[a][b];
            }
          }
        }
      }
    }
  }
}

static void multiply(const System *s, const double *x, double *y) {
  for (int64_t row = 0; row < s->rows; ++row) {
    double sum = 0;
    for (int64_t k = s->begin[row]; k < s->begin[row + 1]; ++k) {
      sum += s->values[k] * x[s->columns[k]];
    }
    y[row] = sum;
  }
}

static double dot(const double *a, const double *b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/* w = alpha x + beta y */
static void combine(double alpha, const double *x, double beta, const double *y, double *w,
                    int64_t count) {
  for (int64_t i = 0; i < count; ++i) w[i] = alpha * x[i] + beta * y[i];
}

int main(int argc, char **argv) {
  int64_t n = 100;
  int64_t iterations = 50;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "-n") == 0) n = atoll(argv[i + 1]);
    if (strcmp(argv[i], "-iterations") == 0) iterations = atoll(argv[i + 1]);
  }
  const int64_t rows = (n - 1) * (n - 1) * (n - 1);
  const int64_t stored = (3 * n - 5) * (3 * n - 5) * (3 * n - 5);
  const size_t vector = (size_t)rows;
  System s = {n, rows, touched(vector + 1, 8), touched((size_t)stored, 8),
              touched((size_t)stored, 8), touched(vector, 8)};
  double *x = touched(vector, 8), *r = touched(vector, 8);
  double *p = touched(vector, 8), *q = touched(vector, 8);
  double assembly_s = 0;
  for (int time = 0; time < 2; ++time) {
    const double start = now();
    generate(&s);
    assemble(&s);
    assembly_s = now() - start;
  }
  memset(x, 0, vector * sizeof(double));
  memset(p, 0, vector * sizeof(double));
  memcpy(r, s.b, vector * sizeof(double));
  double rho = dot(r, r, rows);
  const double first = rho;
  double beta = 0;
  const double start = now();
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    combine(1, r, beta, p, p, rows);
    multiply(&s, p, q);
    const double alpha = rho / dot(p, q, rows);
    combine(1, x, alpha, p, x, rows);
    combine(1, r, -alpha, q, r, rows);
    const double next = dot(r, r, rows);
    beta = next / rho;
    rho = next;
  }
  const double seconds = now() - start;
  printf("{\"assembly_s\": %.9g, \"iteration_s\": %.9g, \"residual_relative\": %.17g}\n", assembly_s,
         seconds / (double)iterations, sqrt(rho / first));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Experiment B of FG-MPI's paper: Cannon's algorithm. A square number of ranks, one block of each matrix per rank; in
// each step every rank multiplies its blocks and hands that of A to its left, that of B to the rank above. Blocks are
// multiplied by BLAS's dgemm where the build found one (SHOAL_BLAS), else by tiles.
#include "matrix.h"

#ifdef SHOAL_BLAS
void dgemm_(const char* form_a, const char* form_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lead_a, const double* b, const int* lead_b, const double* beta, double* c,
            const int* lead_c);

// Columns are Fortran's rows: C' = B' A'.
static void multiply(const double* a, const double* b, double* c, int n) {
  const double one = 1;
  dgemm_("N", "N", &n, &n, &n, &one, b, &n, a, &n, &one, c, &n);
}
#else
enum { k_tile = 64 };

static int smaller(int x, int y) { return x < y ? x : y; }

static void multiply(const double* a, const double* b, double* c, int n) {
  for (int k0 = 0; k0 < n; k0 += k_tile) {
    for (int j0 = 0; j0 < n; j0 += k_tile) {
      for (int i = 0; i < n; ++i) {
        for (int k = k0; k < smaller(k0 + k_tile, n); ++k) {
          const double factor = a[i * n + k];
          for (int j = j0; j < smaller(j0 + k_tile, n); ++j) c[i * n + j] += factor * b[k * n + j];
        }
      }
    }
  }
}
#endif

// Hands a block `by` places on along a dimension of the grid, backwards, and takes that which comes.
static void shift(MPI_Comm grid, int dimension, int by, double* block, int count) {
  int from, to;
  MPI_Cart_shift(grid, dimension, -by, &from, &to);
  MPI_Sendrecv_replace(block, count, MPI_DOUBLE, to, 1, from, 1, grid, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  const struct option options[] = {{"size", 1024, "rows of the matrices, a multiple of the grid's side"}};
  begin_program(argc, argv, "cannon", options, 1);
  const int side = option_count("size");
  int q = 1;
  while (q * q < g_program.ranks) ++q;
  if (q * q != g_program.ranks || side % q != 0) {
    stop_program("needs a square number of ranks, whose root divides --size");
  }
  const int n = side / q, count = n * n, sides[2] = {q, q}, periodic[2] = {1, 1};
  int at[2];
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periodic, 0, &grid);
  MPI_Cart_coords(grid, g_program.rank, 2, at);
  struct block a = make_block(side, at[0] * n, at[1] * n, n, n);
  struct block b = make_block(side, at[0] * n, at[1] * n, n, n);
  struct block c = make_block(side, at[0] * n, at[1] * n, n, n);
  fill_block(&a, 1);
  fill_block(&b, 1000003);
  MPI_Barrier(MPI_COMM_WORLD);
  const long long start = now_ns();
  shift(grid, 1, at[0], a.elements, count);
  shift(grid, 0, at[1], b.elements, count);
  for (int step = 0; step < q; ++step) {
    multiply(a.elements, b.elements, c.elements, n);
    shift(grid, 1, 1, a.elements, count);
    shift(grid, 0, 1, b.elements, count);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = (double)(now_ns() - start) / 1e9;
  fill_block(&a, 1);
  fill_block(&b, 1000003);
  expect_product(&a, &b, &c);
  add_metric("time_s", "s", seconds);
  add_metric("gflops", "Gflop/s", 2.0 * side * side * side / seconds / 1e9);
#ifdef SHOAL_BLAS
  add_metric("blas", "", 1);
#else
  add_metric("blas", "", 0);
#endif
  MPI_Comm_free(&grid);
  free(a.elements);
  free(b.elements);
  free(c.elements);
  return end_program();
}

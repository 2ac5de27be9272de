// SPDX-License-Identifier: Apache-2.0
// Experiment A of FG-MPI's paper: a matrix product that is structured in blocks, one block of each matrix per rank. The
// product of two blocks is the textbook's three loops, so it is fast when they fit into a cache: more ranks per
// process make the blocks smaller, and the program is not touched.
// Ranks form a grid; in each step the owners of a panel of A send it along their row, those of B along their column.
#include "matrix.h"

static void multiply(const double* a, const double* b, double* c, int rows, int inner, int columns) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      double sum = 0;
      for (int k = 0; k < inner; ++k) sum += a[i * inner + k] * b[k * columns + j];
      c[i * columns + j] += sum;
    }
  }
}

int main(int argc, char** argv) {
  const struct option options[] = {{"size", 1024, "rows of the matrices, a multiple of the grid's sides"}};
  begin_program(argc, argv, "blocks", options, 1);
  const int side = option_count("size");
  int grid[2] = {0, 0};
  MPI_Dims_create(g_program.ranks, 2, grid);
  const int steps = grid[0];  // the larger side
  if (steps % grid[1] != 0 || side % steps != 0) {
    stop_program("the ranks must form a grid whose larger side is a multiple of the other and divides --size");
  }
  const int rows = side / grid[0], columns = side / grid[1], panel = side / steps;
  const int my_row = g_program.rank / grid[1], my_column = g_program.rank % grid[1];
  MPI_Comm along_row, along_column;
  MPI_Comm_split(MPI_COMM_WORLD, my_row, my_column, &along_row);
  MPI_Comm_split(MPI_COMM_WORLD, grid[0] + my_column, my_row, &along_column);
  struct block a = make_block(side, my_row * rows, my_column * columns, rows, columns);
  struct block b = make_block(side, my_row * rows, my_column * columns, rows, columns);
  struct block c = make_block(side, my_row * rows, my_column * columns, rows, columns);
  fill_block(&a, 1);
  fill_block(&b, 1000003);
  double* const panel_a = allocate(sizeof(double) * (size_t)rows * (size_t)panel);
  double* const panel_b = allocate(sizeof(double) * (size_t)panel * (size_t)columns);
  MPI_Barrier(MPI_COMM_WORLD);
  const long long start = now_ns();
  for (int k = 0; k < side; k += panel) {
    const int owner_a = k / columns, owner_b = k / rows;  // in the row and in the column
    if (owner_a == my_column) {
      for (int i = 0; i < rows; ++i) {
        memcpy(panel_a + i * panel, a.elements + (size_t)i * (size_t)columns + (k - a.column),
               sizeof(double) * (size_t)panel);
      }
    }
    if (owner_b == my_row) {
      memcpy(panel_b, b.elements + (size_t)(k - b.row) * (size_t)columns,
             sizeof(double) * (size_t)panel * (size_t)columns);
    }
    MPI_Bcast(panel_a, rows * panel, MPI_DOUBLE, owner_a, along_row);
    MPI_Bcast(panel_b, panel * columns, MPI_DOUBLE, owner_b, along_column);
    multiply(panel_a, panel_b, c.elements, rows, panel, columns);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = (double)(now_ns() - start) / 1e9;
  expect_product(&a, &b, &c);
  add_metric("time_s", "s", seconds);
  add_metric("gflops", "Gflop/s", 2.0 * side * side * side / seconds / 1e9);
  MPI_Comm_free(&along_row);
  MPI_Comm_free(&along_column);
  free(a.elements);
  free(b.elements);
  free(c.elements);
  free(panel_a);
  free(panel_b);
  return end_program();
}

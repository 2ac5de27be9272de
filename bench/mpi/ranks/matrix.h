// SPDX-License-Identifier: Apache-2.0
// Blocks of square matrices, one of each matrix per rank, and the check of a product: with small whole numbers as
// elements, C x = A (B x) holds exactly for a vector x of whole numbers, and for a wrong C hardly ever (Freivalds).
#pragma once

#include "ranks.h"

struct block {
  int side;           // of the whole matrix
  int row, column;    // of the block's first element
  int rows, columns;  // of the block
  double* elements;   // row by row
};

static inline struct block make_block(int side, int row, int column, int rows, int columns) {
  const struct block b = {side, row, column, rows, columns, allocate(sizeof(double) * (size_t)rows * (size_t)columns)};
  return b;
}

// From -4 to 3.
static inline double element(int row, int column, int side, uint64_t seed) {
  return (double)(scramble(seed + (uint64_t)row * (uint64_t)side + (uint64_t)column) & 7) - 4;
}

static inline void fill_block(struct block* b, uint64_t seed) {
  for (int i = 0; i < b->rows; ++i) {
    for (int j = 0; j < b->columns; ++j) {
      b->elements[(size_t)i * (size_t)b->columns + (size_t)j] = element(b->row + i, b->column + j, b->side, seed);
    }
  }
}

// The whole vector `result` on every rank: the matrix, of which each rank has a block, times x.
static inline void times_vector(const struct block* b, const double* x, double* result) {
  double* const part = allocate(sizeof(double) * (size_t)b->side);
  for (int i = 0; i < b->rows; ++i) {
    double sum = 0;
    for (int j = 0; j < b->columns; ++j) {
      sum += b->elements[(size_t)i * (size_t)b->columns + (size_t)j] * x[b->column + j];
    }
    part[b->row + i] += sum;
  }
  MPI_Allreduce(part, result, b->side, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  free(part);
}

// The blocks of a and b must lie as at the beginning.
static inline void expect_product(const struct block* a, const struct block* b, const struct block* c) {
  const size_t bytes = sizeof(double) * (size_t)a->side;
  double *x = allocate(bytes), *bx = allocate(bytes), *abx = allocate(bytes), *cx = allocate(bytes);
  for (int i = 0; i < a->side; ++i) x[i] = (double)(scramble((uint64_t)i + 99) & 15) - 8;
  times_vector(b, x, bx);
  times_vector(a, bx, abx);
  times_vector(c, x, cx);
  expect(memcmp(abx, cx, bytes) == 0, "the product is wrong");
  free(x);
  free(bx);
  free(abx);
  free(cx);
}

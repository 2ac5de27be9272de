/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of reductions: all predefined ones on all types that they are defined for, and those of the program. */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "check.h"

/* x op y of MPI_Reduce_local, and over all ranks the value of rank + 1. */
#define NUMBERS(type, handle)                                             \
  do {                                                                    \
    type x[2] = {3, 5}, y[2] = {4, 2}, mine = (type)(rank_ + 1), all = 0; \
    type many = 0;                                                        \
    for (int r = 0; r < size_; ++r) many = (type)(many + (type)(r + 1));  \
    MPI_Reduce_local(x, y, 2, handle, MPI_SUM);                           \
    CHECK(y[0] == 7 && y[1] == 7);                                        \
    MPI_Reduce_local(x, y, 2, handle, MPI_PROD);                          \
    CHECK(y[0] == 21 && y[1] == 35);                                      \
    MPI_Reduce_local(x, y, 2, handle, MPI_MIN);                           \
    CHECK(y[0] == 3 && y[1] == 5);                                        \
    y[0] = 1, y[1] = 9;                                                   \
    MPI_Reduce_local(x, y, 2, handle, MPI_MAX);                           \
    CHECK(y[0] == 3 && y[1] == 9);                                        \
    MPI_Allreduce(&mine, &all, 1, handle, MPI_SUM, MPI_COMM_WORLD);       \
    CHECK(all == many);                                                   \
    MPI_Allreduce(&mine, &all, 1, handle, MPI_MAX, MPI_COMM_WORLD);       \
    CHECK(all == (type)size_);                                            \
    MPI_Allreduce(&mine, &all, 1, handle, MPI_MIN, MPI_COMM_WORLD);       \
    CHECK(all == 1);                                                      \
  } while (0)

#define BITS(type, handle)                       \
  do {                                           \
    type x[2] = {6, 5}, y[2] = {3, 12};          \
    MPI_Reduce_local(x, y, 2, handle, MPI_BAND); \
    CHECK(y[0] == 2 && y[1] == 4);               \
    MPI_Reduce_local(x, y, 2, handle, MPI_BOR);  \
    CHECK(y[0] == 6 && y[1] == 5);               \
    y[0] = 3, y[1] = 4;                          \
    MPI_Reduce_local(x, y, 2, handle, MPI_BXOR); \
    CHECK(y[0] == 5 && y[1] == 1);               \
  } while (0)

#define TRUTHS(type, handle)                                                                  \
  do {                                                                                        \
    type x[4] = {0, 0, 1, 1}, y[4] = {0, 1, 0, 1}, any = rank_ == 0, all = rank_ != 0, r = 9; \
    MPI_Reduce_local(x, y, 4, handle, MPI_LAND);                                              \
    CHECK(!y[0] && !y[1] && !y[2] && y[3]);                                                   \
    y[1] = 1;                                                                                 \
    MPI_Reduce_local(x, y, 4, handle, MPI_LOR);                                               \
    CHECK(!y[0] && y[1] && y[2] && y[3]);                                                     \
    MPI_Reduce_local(x, y, 4, handle, MPI_LXOR);                                              \
    CHECK(!y[0] && y[1] && !y[2] && !y[3]);                                                   \
    MPI_Allreduce(&any, &r, 1, handle, MPI_LOR, MPI_COMM_WORLD);                              \
    CHECK(r);                                                                                 \
    MPI_Allreduce(&all, &r, 1, handle, MPI_LAND, MPI_COMM_WORLD);                             \
    CHECK(!r);                                                                                \
    MPI_Allreduce(&any, &r, 1, handle, MPI_LXOR, MPI_COMM_WORLD);                             \
    CHECK(r);                                                                                 \
  } while (0)

#define INTEGERS(type, handle) \
  do {                         \
    NUMBERS(type, handle);     \
    BITS(type, handle);        \
    TRUTHS(type, handle);      \
  } while (0)

#define COMPLEX(type, handle)                                            \
  do {                                                                   \
    type x = 2 + 3 * I, y = 1 - 1 * I, all, mine = rank_ + 1 * I;        \
    MPI_Reduce_local(&x, &y, 1, handle, MPI_SUM);                        \
    CHECK(y == 3 + 2 * I);                                               \
    MPI_Reduce_local(&x, &y, 1, handle, MPI_PROD);                       \
    CHECK(y == 0 + 13 * I);                                              \
    MPI_Allreduce(&mine, &all, 1, handle, MPI_SUM, MPI_COMM_WORLD);      \
    CHECK(creal(all) == size_ * (size_ - 1) / 2 && cimag(all) == size_); \
  } while (0)

/* The pairs of a value and its place: of equal values the lower place. */
#define PAIRS(type, handle)                                                                      \
  do {                                                                                           \
    struct {                                                                                     \
      type v;                                                                                    \
      int at;                                                                                    \
    } mine, least = {0, -1}, most = {0, -1};                                                     \
    mine.v = (type)(rank_ % 3);                                                                  \
    mine.at = size_ - rank_;                                                                     \
    MPI_Allreduce(&mine, &least, 1, handle, MPI_MINLOC, MPI_COMM_WORLD);                         \
    CHECK(least.v == 0 && least.at == size_ - (size_ - 1) / 3 * 3);                              \
    MPI_Allreduce(&mine, &most, 1, handle, MPI_MAXLOC, MPI_COMM_WORLD);                          \
    const int greatest = size_ < 3 ? size_ - 1 : 2;                                              \
    CHECK(most.v == greatest && most.at == size_ - (greatest + (size_ - 1 - greatest) / 3 * 3)); \
  } while (0)

static void predefined(void) {
  INTEGERS(short, MPI_SHORT);
  INTEGERS(int, MPI_INT);
  INTEGERS(long, MPI_LONG);
  INTEGERS(long long, MPI_LONG_LONG);
  INTEGERS(unsigned short, MPI_UNSIGNED_SHORT);
  INTEGERS(unsigned, MPI_UNSIGNED);
  INTEGERS(unsigned long, MPI_UNSIGNED_LONG);
  INTEGERS(unsigned long long, MPI_UNSIGNED_LONG_LONG);
  INTEGERS(signed char, MPI_SIGNED_CHAR);
  INTEGERS(unsigned char, MPI_UNSIGNED_CHAR);
  INTEGERS(int8_t, MPI_INT8_T);
  INTEGERS(int16_t, MPI_INT16_T);
  INTEGERS(int32_t, MPI_INT32_T);
  INTEGERS(int64_t, MPI_INT64_T);
  INTEGERS(uint8_t, MPI_UINT8_T);
  INTEGERS(uint16_t, MPI_UINT16_T);
  INTEGERS(uint32_t, MPI_UINT32_T);
  INTEGERS(uint64_t, MPI_UINT64_T);
  NUMBERS(MPI_Aint, MPI_AINT);
  NUMBERS(MPI_Count, MPI_COUNT);
  NUMBERS(MPI_Offset, MPI_OFFSET);
  NUMBERS(float, MPI_FLOAT);
  NUMBERS(double, MPI_DOUBLE);
  NUMBERS(long double, MPI_LONG_DOUBLE);
  TRUTHS(bool, MPI_C_BOOL);
  BITS(unsigned char, MPI_BYTE);
  COMPLEX(float complex, MPI_C_FLOAT_COMPLEX);
  COMPLEX(double complex, MPI_C_DOUBLE_COMPLEX);
  PAIRS(float, MPI_FLOAT_INT);
  PAIRS(double, MPI_DOUBLE_INT);
  PAIRS(long, MPI_LONG_INT);
  PAIRS(int, MPI_2INT);
  PAIRS(short, MPI_SHORT_INT);
  PAIRS(long double, MPI_LONG_DOUBLE_INT);
}

/* Numbers in base 65599 and how many digits they have: not commutative. */
static void concatenate(void* in, void* inout, int* n, MPI_Datatype* type) {
  const uint64_t* a = in;
  uint64_t* b = inout;
  int bytes = 0; /* functions that do not communicate may be called, on as much stack as elsewhere */
  MPI_Aint lower, extent;
  volatile char room[200000];
  room[0] = room[sizeof room - 1] = 1;
  MPI_Type_size(*type, &bytes);
  MPI_Type_get_extent(*type, &lower, &extent);
  CHECK_EQUAL(bytes, 2 * sizeof *a);
  CHECK_EQUAL(extent, bytes + room[0] - room[sizeof room - 1]);
  for (int i = 0; i < *n; ++i, a += 2, b += 2) {
    uint64_t high = a[0];
    for (uint64_t k = 0; k < b[1]; ++k) high *= 65599;
    b[0] += high;
    b[1] += a[1];
  }
}

static void large_add(void* in, void* inout, MPI_Count* n, MPI_Datatype* type) {
  (void)type;
  for (MPI_Count i = 0; i < *n; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* Each rank is a digit, in the order of ranks, whatever the parentheses are. */
static void own(void) {
  MPI_Datatype digits;
  MPI_Op op, large;
  uint64_t mine[2] = {(uint64_t)rank_ + 3, 1}, all[2] = {0, 0}, wanted = 0;
  int commutes = -1, v = rank_, sum = 0;
  MPI_Type_contiguous(2, MPI_UINT64_T, &digits);
  MPI_Type_commit(&digits);
  MPI_Op_create(concatenate, 0, &op);
  MPI_Op_commutative(op, &commutes);
  CHECK_EQUAL(commutes, 0);
  MPI_Op_commutative(MPI_SUM, &commutes);
  CHECK_EQUAL(commutes, 1);
  for (int r = 0; r < size_; ++r) wanted = wanted * 65599 + (uint64_t)r + 3;
  MPI_Allreduce(mine, all, 1, digits, op, MPI_COMM_WORLD);
  CHECK(all[0] == wanted && all[1] == (uint64_t)size_);
  wanted = 0;
  for (int r = 0; r <= rank_; ++r) wanted = wanted * 65599 + (uint64_t)r + 3;
  MPI_Scan(mine, all, 1, digits, op, MPI_COMM_WORLD);
  CHECK(all[0] == wanted && all[1] == (uint64_t)rank_ + 1);
  CHECK_EQUAL(mine[0], rank_ + 3); /* what a rank gives is not changed */
  MPI_Op_free(&op);
  MPI_Type_free(&digits);
  MPI_Op_create_c(large_add, 1, &large);
  MPI_Allreduce(&v, &sum, 1, MPI_INT, large, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, size_ * (size_ - 1) / 2);
  MPI_Allreduce_c(&v, &sum, 1, MPI_INT, large, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, size_ * (size_ - 1) / 2);
  v = 5;
  MPI_Reduce_local_c(&v, &sum, 1, MPI_INT, large);
  CHECK_EQUAL(sum, size_ * (size_ - 1) / 2 + 5);
  MPI_Op_free(&large);
}

/* A function of the program sees the datatype's handle that its rank has given, and that rank's variables of a thread. */
static _Thread_local int of_thread;
static MPI_Datatype of_rank;
static int foreign;
static void look_and_add(void* in, void* inout, int* n, MPI_Datatype* type) {
  if (*type != of_rank || of_thread != rank_ + 1) ++foreign;
  for (int i = 0; i < *n; ++i) ((int*)inout)[2 * i] += ((int*)in)[2 * i];
}
static void own_handle_and_thread(void) {
  MPI_Op op;
  MPI_Datatype freed[3];
  int mine[2] = {rank_, 0}, all[2] = {0, 0}, *parts = calloc(2 * (size_t)size_, sizeof(int));
  of_thread = rank_ + 1;
  for (int i = 0; i < rank_ % 3; ++i) MPI_Type_contiguous(3, MPI_INT, &freed[i]); /* so that handles differ */
  MPI_Type_contiguous(2, MPI_INT, &of_rank);
  MPI_Type_commit(&of_rank);
  MPI_Op_create(look_and_add, 1, &op);
  for (int i = 0; i < 50; ++i) {
    MPI_Request r;
    const int sum = size_ * (size_ - 1) / 2;
    MPI_Allreduce(mine, all, 1, of_rank, op, MPI_COMM_WORLD);
    CHECK_EQUAL(all[0], sum);
    MPI_Scan(mine, all, 1, of_rank, op, MPI_COMM_WORLD);
    CHECK_EQUAL(all[0], rank_ * (rank_ + 1) / 2);
    for (int k = 0; k < size_; ++k) parts[2 * k] = rank_;
    MPI_Reduce_scatter_block(parts, all, 1, of_rank, op, MPI_COMM_WORLD);
    CHECK_EQUAL(all[0], sum);
    MPI_Ireduce(mine, all, 1, of_rank, op, i % size_, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (rank_ == i % size_) CHECK_EQUAL(all[0], sum);
  }
  CHECK_EQUAL(foreign, 0);
  for (int i = 0; i < rank_ % 3; ++i) MPI_Type_free(&freed[i]);
  MPI_Type_free(&of_rank);
  MPI_Op_free(&op);
  free(parts);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  predefined();
  own();
  own_handle_and_thread();
  return end();
}

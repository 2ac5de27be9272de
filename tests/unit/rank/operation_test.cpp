// SPDX-License-Identifier: Apache-2.0
// Each predefined operation on each predefined type: defined exactly where MPI 5.0, 6.9.2 and 6.9.4 say so, and right.
#include "rank/operation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <string>

#include "rank/error.hpp"

namespace shoal::rank {
namespace {

bool is_defined(MPI_Op op, MPI_Datatype type) {
  try {
    operation_ref(op).check(type_of(type));
    return true;
  } catch (const mpi_error& e) {
    EXPECT_EQ(e.code(), MPI_ERR_OP);
    return false;
  }
}

template <class T>
T combined(MPI_Op op, MPI_Datatype type, T lower, T upper) {
  // More than a vector's width, so that both loops of a vectorized one run.
  std::array<T, 37> from, into;
  from.fill(lower);
  into.fill(upper);
  operation_ref(op).combine(from.data(), into.data(), 37, type_of(type));
  for (const T& x : into) EXPECT_TRUE(x == into[0]);
  return into[0];
}

TEST(operation, is_defined_where_the_standard_says) {
  const MPI_Datatype integers[] = {MPI_INT,         MPI_SHORT,    MPI_UNSIGNED_LONG_LONG,
                                   MPI_INT8_T,      MPI_UINT64_T, MPI_INTEGER,
                                   MPI_AINT,        MPI_OFFSET,   MPI_COUNT,
                                   MPI_SIGNED_CHAR, MPI_CHAR};  // which the standard leaves out, and other libraries take
  const MPI_Datatype reals[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION};
  const MPI_Datatype complexes[] = {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX};
  const MPI_Datatype truths[] = {MPI_C_BOOL, MPI_LOGICAL, MPI_CXX_BOOL};
  const MPI_Datatype pairs[] = {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_2INT, MPI_LONG_INT, MPI_2REAL, MPI_2INTEGER};
  const auto expect = [](std::span<const MPI_Datatype> types, bool arithmetic, bool order, bool logic, bool bits,
                         bool place) {
    for (const MPI_Datatype t : types) {
      SCOPED_TRACE(std::string(type_of(t).predefined()->name));
      for (const MPI_Op op : {MPI_SUM, MPI_PROD}) EXPECT_EQ(is_defined(op, t), arithmetic);
      for (const MPI_Op op : {MPI_MIN, MPI_MAX}) EXPECT_EQ(is_defined(op, t), order);
      for (const MPI_Op op : {MPI_LAND, MPI_LOR, MPI_LXOR}) EXPECT_EQ(is_defined(op, t), logic);
      for (const MPI_Op op : {MPI_BAND, MPI_BOR, MPI_BXOR}) EXPECT_EQ(is_defined(op, t), bits);
      for (const MPI_Op op : {MPI_MINLOC, MPI_MAXLOC}) EXPECT_EQ(is_defined(op, t), place);
    }
  };
  expect(integers, true, true, true, true, false);
  expect(reals, true, true, false, false, false);
  expect(complexes, true, false, false, false, false);
  expect(truths, false, false, true, false, false);
  expect(pairs, false, false, false, false, true);
  const MPI_Datatype bytes[] = {MPI_BYTE};
  expect(bytes, false, false, false, true, false);
  const MPI_Datatype text[] = {MPI_WCHAR};
  expect(text, false, false, false, false, false);
}

TEST(operation, combines) {
  EXPECT_EQ(combined<int>(MPI_SUM, MPI_INT, 3, 4), 7);
  EXPECT_EQ(combined<std::uint8_t>(MPI_PROD, MPI_UINT8_T, 20, 13), 4);  // wraps, as in C
  EXPECT_EQ(combined<double>(MPI_MIN, MPI_DOUBLE, -1.5, 2), -1.5);
  EXPECT_EQ(combined<std::int64_t>(MPI_MAX, MPI_INT64_T, -1, 2), 2);
  EXPECT_EQ(combined<std::uint32_t>(MPI_BXOR, MPI_UINT32_T, 0xf0, 0xff), 0x0fU);
  EXPECT_EQ(combined<int>(MPI_LAND, MPI_INT, 4, 2), 1);
  EXPECT_EQ(combined<int>(MPI_LXOR, MPI_INT, 4, 2), 0);
  EXPECT_EQ(combined<bool>(MPI_LOR, MPI_C_BOOL, false, true), true);
  using complex = std::complex<double>;
  EXPECT_EQ(combined<complex>(MPI_PROD, MPI_C_DOUBLE_COMPLEX, complex(0, 1), complex(0, 1)), complex(-1, 0));
}

TEST(operation, the_lower_place_wins_a_tie) {
  struct pair {
    double value;
    int at;
    bool operator==(const pair&) const = default;
  };
  EXPECT_EQ(combined<pair>(MPI_MINLOC, MPI_DOUBLE_INT, {2, 7}, {2, 3}), (pair{2, 3}));
  EXPECT_EQ(combined<pair>(MPI_MAXLOC, MPI_DOUBLE_INT, {2, 7}, {1, 3}), (pair{2, 7}));
  EXPECT_EQ(combined<pair>(MPI_MAXLOC, MPI_DOUBLE_INT, {2, 7}, {2, 9}), (pair{2, 7}));
}

void subtract(void* from, void* into, int* count, MPI_Datatype* type) {
  EXPECT_EQ(*type, MPI_INT);
  for (int i = 0; i < *count; ++i) static_cast<int*>(into)[i] = static_cast<int*>(from)[i] - static_cast<int*>(into)[i];
}

TEST(operation, of_the_program_gets_the_lower_ranks_first) {
  auto* const op = new operation(subtract, false);
  const auto handle = reinterpret_cast<MPI_Op>(static_cast<handle_object*>(op));
  {
    const operation_ref kept(handle);
    EXPECT_FALSE(kept.commutes());
    op->references.fetch_sub(1);  // its handle's
    EXPECT_EQ(combined<int>(handle, MPI_INT, 10, 3), 7);
  }
}

TEST(operation, refuses_what_is_none) {
  EXPECT_THROW(operation_ref(MPI_OP_NULL), mpi_error);
  EXPECT_THROW(operation_ref(MPI_REPLACE).check(type_of(MPI_INT)), mpi_error);
}

}  // namespace
}  // namespace shoal::rank

// SPDX-License-Identifier: Apache-2.0
// The header of MPI's standard ABI: sizes and values that the standard fixes, and both names of every function.
#include "mpi-abi/mpi.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <type_traits>

namespace {

// MPI 5.0, chapter 20 and appendix A.
static_assert(sizeof(MPI_Status) == 32 && offsetof(MPI_Status, MPI_ERROR) == 8);
static_assert(sizeof(MPI_Aint) == sizeof(void*) && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8);
static_assert(MPI_ANY_SOURCE == -1 && MPI_ANY_TAG == -2 && MPI_PROC_NULL == -3 && MPI_ROOT == -4);
static_assert(MPI_UNDEFINED == -32766 && MPI_ERR_LASTCODE == 0x3fff && MPI_ERR_ABI == 62 && MPI_ERR_IN_STATUS == 19);
static_assert(MPI_THREAD_SINGLE == 0 && MPI_THREAD_MULTIPLE == 4096 && MPI_MODE_NOSUCCEED == 16384);
static_assert(MPI_ORDER_C == 0xc && MPI_ORDER_FORTRAN == 0xf && MPI_COMBINER_NAMED == 101 && MPI_IDENT == 201);
static_assert(MPI_MAX_ERROR_STRING == 512 && MPI_MAX_PROCESSOR_NAME == 256 && MPI_BSEND_OVERHEAD == 512);
static_assert(MPI_TAG_UB == 501 && MPI_UNIVERSE_SIZE == 507 && MPI_WIN_MODEL == 605);

template <class Handle>
std::uintptr_t number(Handle h) {
  return reinterpret_cast<std::uintptr_t>(h);
}

// The standard puts the size of a type with a fixed size into bits 3 to 5 of its handle.
template <class T>
void expect_size(MPI_Datatype type) {
  EXPECT_EQ(number(type) >> 6, 0x200U >> 6 | 1) << number(type);
  EXPECT_EQ(std::size_t{1} << (number(type) >> 3 & 7), sizeof(T)) << number(type);
}

TEST(mpi_abi, gives_handles_the_values_of_the_standard) {
  EXPECT_EQ(number(MPI_COMM_WORLD), 0x101U);
  EXPECT_EQ(number(MPI_COMM_SELF), 0x102U);
  EXPECT_EQ(number(MPI_GROUP_EMPTY), 0x109U);
  EXPECT_EQ(number(MPI_SUM), 0x21U);
  EXPECT_EQ(number(MPI_MAXLOC), 0x39U);
  EXPECT_EQ(number(MPI_ERRORS_RETURN), 0x143U);
  EXPECT_EQ(number(MPI_REQUEST_NULL), 0x180U);
  EXPECT_EQ(number(MPI_INT), 0x209U);
  EXPECT_EQ(number(MPI_DOUBLE), 0x214U);
  expect_size<std::int8_t>(MPI_INT8_T);
  expect_size<char>(MPI_CHAR);
  expect_size<std::byte>(MPI_BYTE);
  expect_size<std::uint16_t>(MPI_UINT16_T);
  expect_size<std::int32_t>(MPI_INT32_T);
  expect_size<std::uint64_t>(MPI_UINT64_T);
  EXPECT_EQ(MPI_LONG_LONG_INT, MPI_LONG_LONG);
  EXPECT_EQ(number(MPI_IN_PLACE), 1U);
}

// Each row is compared with itself under its other name: a program may replace every MPI_NAME and call PMPI_NAME.
TEST(mpi_abi, declares_every_function_under_both_names) {
  std::set<std::string> names;
  std::size_t rows = 0;
#define MPI_ABI_FUNCTION(result, name, parameters)                                      \
  static_assert(std::is_same_v<decltype(MPI_##name), decltype(PMPI_##name)>);           \
  static_assert(std::is_same_v<decltype(MPI_##name), result parameters>, "MPI_" #name); \
  names.insert(#name);                                                                  \
  ++rows;
#define MPI_ABI_COUNTED MPI_ABI_FUNCTION
#define MPI_ABI_COUNT int
#define MPI_ABI_PLACE int
#define MPI_ABI_WIDE MPI_Aint
#include "mpi-abi/functions/all.inc"
#include "mpi-abi/functions/large.inc"
#define MPI_ABI_COUNTED(result, name, parameters)                                     \
  static_assert(std::is_same_v<decltype(MPI_##name##_c), decltype(PMPI_##name##_c)>); \
  static_assert(std::is_same_v<decltype(MPI_##name##_c), result parameters>);         \
  names.insert(#name "_c");                                                           \
  ++rows;
#include "mpi-abi/functions/all.inc"
#include "mpi-abi/functions/end.inc"
  EXPECT_EQ(rows, 662U);
  EXPECT_EQ(names.size(), rows);
  static_assert(std::is_same_v<decltype(MPI_Send_c), int(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm)>);
  static_assert(std::is_same_v<decltype(MPI_Type_create_hvector_c),
                               int(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype*)>);
  static_assert(
      std::is_same_v<decltype(MPI_Alltoallv_c), int(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*,
                                                    const MPI_Count*, const MPI_Aint*, MPI_Datatype, MPI_Comm)>);
}

}  // namespace

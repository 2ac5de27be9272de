// SPDX-License-Identifier: Apache-2.0
// The kinds of elements that the predefined datatypes of MPI stand for, and these datatypes.
// Who may call: anybody.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "mpi-abi/mpi.h"

namespace shoal::rank {

/// What an element is to a reduction.
enum class basic : std::uint8_t {
  none,
  byte,
  character,
  wide_character,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  c_long,           // those of C, which external32 has with 4 bytes
  c_unsigned_long,  //
  f16,
  f32,
  f64,
  f80,
  f128,
  c32,
  c64,
  c80,
  c128,   // complex: of two such
  truth,  // C and C++ bool
  logical8,
  logical16,
  logical32,
  logical64,
  float_int,
  double_int,
  long_int,
  int_int,
  short_int,
  long_double_int,
  float_float,
  double_double
};

/// The IEEE number of 128 bits: on some processors long double is it, and then compilers may have no other name for it.
#if __LDBL_MANT_DIG__ == 113
using float128 = long double;
#else
using float128 = __float128;
#endif

struct predefined_type {
  std::uintptr_t handle;
  std::string_view name;
  basic kind;
};

/// All of them, in ascending order of handles.
std::span<const predefined_type> predefined_types() noexcept;
/// The size of an element without and with padding.
std::uint64_t size_of(basic kind) noexcept;
std::uint64_t extent_of(basic kind) noexcept;
/// Where elements begin in C: at multiples of this.
std::uint64_t alignment_of(basic kind) noexcept;

/// What an element consists of: a value, and an index if it is a pair (none: it is not). A complex number is one value.
struct basic_parts {
  basic value;
  basic index;
};
basic_parts parts_of(basic kind) noexcept;
/// Values in an element: 1, in a pair 2.
inline std::uint64_t values_in(basic kind) noexcept { return parts_of(kind).index == basic::none ? 1 : 2; }

}  // namespace shoal::rank

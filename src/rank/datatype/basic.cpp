// SPDX-License-Identifier: Apache-2.0
#include "rank/datatype/basic.hpp"

#include <complex>
#include <cstddef>

namespace shoal::rank {
namespace {

template <class First, class Second>
struct pair {
  First value;
  Second index;
};

struct kind_sizes {
  std::uint8_t size, extent;
};

constexpr kind_sizes sizes_of(basic kind) noexcept {
  using enum basic;
  switch (kind) {
    case none: return {0, 0};
    case byte:
    case character:
    case i8:
    case u8:
    case truth:
    case logical8: return {1, 1};
    case i16:
    case u16:
    case f16:
    case logical16: return {2, 2};
    case wide_character:
    case i32:
    case u32:
    case f32:
    case logical32: return {4, 4};
    case i64:
    case u64:
    case c_long:
    case c_unsigned_long:
    case f64:
    case c32:
    case logical64: return {8, 8};
    case f80:
    case f128:
    case c64: return {16, 16};
    case c80:
    case c128: return {32, 32};
    case float_int:
    case int_int:
    case float_float: return {8, 8};
    case double_int: return {12, sizeof(pair<double, int>)};
    case long_int: return {12, sizeof(pair<long, int>)};
    case short_int: return {6, sizeof(pair<short, int>)};
    case long_double_int: return {20, sizeof(pair<long double, int>)};
    case double_double: return {16, 16};
  }
  return {0, 0};
}
static_assert(sizeof(long double) == 16 && sizeof(wchar_t) == 4 && sizeof(long) == 8);

#define SHOAL_TYPE(name, kind) \
  { reinterpret_cast<std::uintptr_t>(MPI_##name), "MPI_" #name, basic::kind }

const predefined_type k_types[] = {
    SHOAL_TYPE(AINT, i64),
    SHOAL_TYPE(COUNT, i64),
    SHOAL_TYPE(OFFSET, i64),
    SHOAL_TYPE(PACKED, byte),
    SHOAL_TYPE(SHORT, i16),
    SHOAL_TYPE(INT, i32),
    SHOAL_TYPE(LONG, c_long),
    SHOAL_TYPE(LONG_LONG, i64),
    SHOAL_TYPE(UNSIGNED_SHORT, u16),
    SHOAL_TYPE(UNSIGNED, u32),
    SHOAL_TYPE(UNSIGNED_LONG, c_unsigned_long),
    SHOAL_TYPE(UNSIGNED_LONG_LONG, u64),
    SHOAL_TYPE(FLOAT, f32),
    SHOAL_TYPE(C_FLOAT_COMPLEX, c32),
    SHOAL_TYPE(CXX_FLOAT_COMPLEX, c32),
    SHOAL_TYPE(DOUBLE, f64),
    SHOAL_TYPE(C_DOUBLE_COMPLEX, c64),
    SHOAL_TYPE(CXX_DOUBLE_COMPLEX, c64),
    SHOAL_TYPE(LOGICAL, logical32),
    SHOAL_TYPE(INTEGER, i32),
    SHOAL_TYPE(REAL, f32),
    SHOAL_TYPE(COMPLEX, c32),
    SHOAL_TYPE(DOUBLE_PRECISION, f64),
    SHOAL_TYPE(DOUBLE_COMPLEX, c64),
    SHOAL_TYPE(CHARACTER, character),
    SHOAL_TYPE(LONG_DOUBLE, f80),
    SHOAL_TYPE(C_LONG_DOUBLE_COMPLEX, c80),
    SHOAL_TYPE(CXX_LONG_DOUBLE_COMPLEX, c80),
    SHOAL_TYPE(FLOAT_INT, float_int),
    SHOAL_TYPE(DOUBLE_INT, double_int),
    SHOAL_TYPE(LONG_INT, long_int),
    SHOAL_TYPE(2INT, int_int),
    SHOAL_TYPE(SHORT_INT, short_int),
    SHOAL_TYPE(LONG_DOUBLE_INT, long_double_int),
    SHOAL_TYPE(2REAL, float_float),
    SHOAL_TYPE(2DOUBLE_PRECISION, double_double),
    SHOAL_TYPE(2INTEGER, int_int),
    SHOAL_TYPE(C_BOOL, truth),
    SHOAL_TYPE(CXX_BOOL, truth),
    SHOAL_TYPE(WCHAR, wide_character),
    SHOAL_TYPE(INT8_T, i8),
    SHOAL_TYPE(UINT8_T, u8),
    SHOAL_TYPE(CHAR, character),
    SHOAL_TYPE(SIGNED_CHAR, i8),
    SHOAL_TYPE(UNSIGNED_CHAR, u8),
    SHOAL_TYPE(BYTE, byte),
    SHOAL_TYPE(INT16_T, i16),
    SHOAL_TYPE(UINT16_T, u16),
    SHOAL_TYPE(INT32_T, i32),
    SHOAL_TYPE(UINT32_T, u32),
    SHOAL_TYPE(INT64_T, i64),
    SHOAL_TYPE(UINT64_T, u64),
    SHOAL_TYPE(LOGICAL1, logical8),
    SHOAL_TYPE(INTEGER1, i8),
    SHOAL_TYPE(LOGICAL2, logical16),
    SHOAL_TYPE(INTEGER2, i16),
    SHOAL_TYPE(REAL2, f16),
    SHOAL_TYPE(LOGICAL4, logical32),
    SHOAL_TYPE(INTEGER4, i32),
    SHOAL_TYPE(REAL4, f32),
    SHOAL_TYPE(LOGICAL8, logical64),
    SHOAL_TYPE(INTEGER8, i64),
    SHOAL_TYPE(REAL8, f64),
    SHOAL_TYPE(COMPLEX8, c32),
    SHOAL_TYPE(REAL16, f128),
    SHOAL_TYPE(COMPLEX16, c64),
    SHOAL_TYPE(COMPLEX32, c128),
};
#undef SHOAL_TYPE

}  // namespace

std::span<const predefined_type> predefined_types() noexcept { return k_types; }
std::uint64_t size_of(basic kind) noexcept { return sizes_of(kind).size; }
std::uint64_t extent_of(basic kind) noexcept { return sizes_of(kind).extent; }

std::uint64_t alignment_of(basic kind) noexcept {
  switch (kind) {
    case basic::none: return 1;
    case basic::c32:
    case basic::float_int:
    case basic::int_int:
    case basic::short_int:
    case basic::float_float: return 4;
    case basic::c64:
    case basic::double_int:
    case basic::long_int:
    case basic::double_double: return 8;
    case basic::f80:
    case basic::f128:
    case basic::c80:
    case basic::c128:
    case basic::long_double_int: return 16;
    default: return size_of(kind);
  }
}

basic_parts parts_of(basic kind) noexcept {
  using enum basic;
  switch (kind) {
    case float_int: return {f32, i32};
    case double_int: return {f64, i32};
    case long_int: return {c_long, i32};
    case int_int: return {i32, i32};
    case short_int: return {i16, i32};
    case long_double_int: return {f80, i32};
    case float_float: return {f32, f32};
    case double_double: return {f64, f64};
    default: return {kind, none};
  }
}

}  // namespace shoal::rank

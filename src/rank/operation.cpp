// SPDX-License-Identifier: Apache-2.0
#include "rank/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <type_traits>

#include "rank/error.hpp"

namespace shoal::rank {
namespace {

using loop = void (*)(const void* from, void* into, std::int64_t n) noexcept;

template <class T, class F>
void apply(const void* from, void* into, std::int64_t n) noexcept {
  const T* const a = static_cast<const T*>(from);
  T* const b = static_cast<T*>(into);
  const F f{};
  for (std::int64_t i = 0; i < n; ++i) b[i] = f(a[i], b[i]);
}

struct sum {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};
struct product {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a * b);
  }
};
struct least {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct greatest {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct bits_and {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a & b);
  }
};
struct bits_or {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a | b);
  }
};
struct bits_xor {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a ^ b);
  }
};
struct both {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a != T{} && b != T{});
  }
};
struct either {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a != T{} || b != T{});
  }
};
struct one_of_them {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>((a != T{}) != (b != T{}));
  }
};

template <class V, class I>
struct located {
  V value;
  I index;
};
// Of equal values the lower index.
struct least_at {
  template <class P>
  P operator()(const P& a, const P& b) const {
    if (a.value < b.value || (a.value == b.value && a.index < b.index)) return a;
    return b;
  }
};
struct greatest_at {
  template <class P>
  P operator()(const P& a, const P& b) const {
    if (b.value < a.value || (a.value == b.value && a.index < b.index)) return a;
    return b;
  }
};

template <class F>
loop of_integers(basic kind) noexcept {
  using enum basic;
  switch (kind) {
    case character: return apply<char, F>;  // not in the standard, but in every other library
    case i8: return apply<std::int8_t, F>;
    case u8: return apply<std::uint8_t, F>;
    case i16: return apply<std::int16_t, F>;
    case u16: return apply<std::uint16_t, F>;
    case i32: return apply<std::int32_t, F>;
    case u32: return apply<std::uint32_t, F>;
    case i64:
    case c_long: return apply<std::int64_t, F>;
    case u64:
    case c_unsigned_long: return apply<std::uint64_t, F>;
    default: return nullptr;
  }
}

template <class F>
loop of_reals(basic kind) noexcept {
  using enum basic;
  switch (kind) {
    case f32: return apply<float, F>;
    case f64: return apply<double, F>;
    case f80: return apply<long double, F>;
    case f128: return apply<float128, F>;
    default: return of_integers<F>(kind);
  }
}

// std::complex has no __float128.
struct complex128 {
  float128 re, im;
  friend complex128 operator+(const complex128& a, const complex128& b) { return {a.re + b.re, a.im + b.im}; }
  friend complex128 operator*(const complex128& a, const complex128& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

template <class F>
loop of_numbers(basic kind) noexcept {
  using enum basic;
  switch (kind) {
    case c32: return apply<std::complex<float>, F>;
    case c64: return apply<std::complex<double>, F>;
    case c80: return apply<std::complex<long double>, F>;
    case c128: return apply<complex128, F>;
    default: return of_reals<F>(kind);
  }
}

// Logical operations: C integers, and logical values of both languages.
template <class F>
loop of_logicals(basic kind) noexcept {
  using enum basic;
  switch (kind) {
    case truth: return apply<bool, F>;
    case logical8: return apply<std::int8_t, F>;
    case logical16: return apply<std::int16_t, F>;
    case logical32: return apply<std::int32_t, F>;
    case logical64: return apply<std::int64_t, F>;
    default: return of_integers<F>(kind);
  }
}

template <class F>
loop of_bits(basic kind) noexcept {
  return kind == basic::byte ? apply<std::uint8_t, F> : of_integers<F>(kind);
}

template <class F>
loop of_pairs(basic kind) noexcept {
  using enum basic;
  switch (kind) {
    case float_int: return apply<located<float, int>, F>;
    case double_int: return apply<located<double, int>, F>;
    case long_int: return apply<located<long, int>, F>;
    case int_int: return apply<located<int, int>, F>;
    case short_int: return apply<located<short, int>, F>;
    case long_double_int: return apply<located<long double, int>, F>;
    case float_float: return apply<located<float, float>, F>;
    case double_double: return apply<located<double, double>, F>;
    default: return nullptr;
  }
}

loop loop_of(MPI_Op op, basic kind) noexcept {
  if (op == MPI_SUM) return of_numbers<sum>(kind);
  if (op == MPI_PROD) return of_numbers<product>(kind);
  if (op == MPI_MIN) return of_reals<least>(kind);
  if (op == MPI_MAX) return of_reals<greatest>(kind);
  if (op == MPI_BAND) return of_bits<bits_and>(kind);
  if (op == MPI_BOR) return of_bits<bits_or>(kind);
  if (op == MPI_BXOR) return of_bits<bits_xor>(kind);
  if (op == MPI_LAND) return of_logicals<both>(kind);
  if (op == MPI_LOR) return of_logicals<either>(kind);
  if (op == MPI_LXOR) return of_logicals<one_of_them>(kind);
  if (op == MPI_MINLOC) return of_pairs<least_at>(kind);
  if (op == MPI_MAXLOC) return of_pairs<greatest_at>(kind);
  return nullptr;
}

bool is_user(MPI_Op op) noexcept { return !is_predefined(op); }
operation& user(MPI_Op op) noexcept { return *static_cast<operation*>(reinterpret_cast<handle_object*>(op)); }

}  // namespace

operation_ref::operation_ref(MPI_Op op) : op_(op) {
  if (is_user(op)) {
    object_of<operation>(op).references.fetch_add(1, std::memory_order_relaxed);
  } else if (loop_of(op, basic::i32) == nullptr && loop_of(op, basic::int_int) == nullptr && op != MPI_REPLACE &&
             op != MPI_NO_OP) {
    op_ = MPI_OP_NULL;
    throw mpi_error(MPI_ERR_OP, op == MPI_OP_NULL ? "the operation is MPI_OP_NULL" : "no handle of an operation");
  }
}

operation_ref::operation_ref(const operation_ref& other) noexcept : op_(other.op_) {
  if (is_user(op_)) user(op_).references.fetch_add(1, std::memory_order_relaxed);
}

operation_ref::~operation_ref() {
  if (is_user(op_) && user(op_).references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete &user(op_);
}

bool operation_ref::commutes() const noexcept { return !is_user(op_) || user(op_).commutes; }

void operation_ref::check(const datatype& type) const {
  if (is_user(op_)) return;
  if (op_ == MPI_REPLACE || op_ == MPI_NO_OP)
    throw mpi_error(MPI_ERR_OP, "MPI_REPLACE and MPI_NO_OP are for one-sided communication");
  if (!type.is_predefined() || loop_of(op_, type.kind()) == nullptr)
    throw mpi_error(MPI_ERR_OP, type.is_predefined()
                                    ? fmt::format("the operation is not defined on {}", type.predefined()->name)
                                    : "predefined operations are not defined on datatypes that the program has made");
}

void operation_ref::combine(const void* from, void* into, MPI_Count count, const datatype& type) const {
  if (count == 0) return;
  if (!is_user(op_)) return loop_of(op_, type.kind())(from, into, count);
  MPI_Datatype handle = handle_of_type(type);
  const operation& f = user(op_);
  if (f.large_through != nullptr) return f.large_through(f.large, const_cast<void*>(from), into, &count, handle);
  if (f.large != nullptr) return f.large(const_cast<void*>(from), into, &count, &handle);
  while (count > 0) {
    int some = static_cast<int>(std::min<MPI_Count>(count, std::numeric_limits<int>::max()));
    if (f.through != nullptr)
      f.through(f.small, const_cast<void*>(from), into, &some, handle);
    else
      f.small(const_cast<void*>(from), into, &some, &handle);
    from = static_cast<const std::byte*>(from) + some * type.extent();
    into = static_cast<std::byte*>(into) + some * type.extent();
    count -= some;
  }
}

}  // namespace shoal::rank

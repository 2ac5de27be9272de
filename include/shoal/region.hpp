// SPDX-License-Identifier: Apache-2.0
// Regions: the bytes that a task of a shoal::task_flow reads or writes. The flow derives the order of tasks from them.
// Who may call: anyone. Nothing here accesses the bytes, or switches tasks.
// in(x), out(x), inout(x), commutative(x) name the object x. A vector, a string or another resizable container is one object, without
// its elements, since they may move before the task runs. A span or an array means its elements; array_region(p, n)
// means n elements from p; region2d(p, rows, columns, stride) a block of a matrix whose rows are `stride` elements
// apart. Conflicting tasks must name the same thing: a vector object and its elements have no byte in common.
// Shown by tests/unit/sched/region_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

namespace shoal {

/// `rows` times `row_bytes` bytes, `stride_bytes` apart: a set of rows. Regions may overlap in any way.
struct region {
  const void* begin = nullptr;
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
  std::ptrdiff_t stride_bytes = 0;
};

namespace detail {
template <class T>
inline constexpr std::size_t element_bytes = sizeof(T);
template <>
inline constexpr std::size_t element_bytes<void> = 1;
template <>
inline constexpr std::size_t element_bytes<const void> = 1;
}  // namespace detail

/// `count` elements from `first` (bytes, if it is a void*).
template <class T>
region array_region(T* first, std::size_t count) noexcept {
  return {const_cast<const std::remove_volatile_t<T>*>(first), count * detail::element_bytes<T>, 1, 0};
}

/// `rows` rows of `columns` elements each; from one row to the next it is `stride` elements.
template <class T>
region region2d(T* first, std::size_t rows, std::size_t columns, std::ptrdiff_t stride) noexcept {
  constexpr std::size_t bytes = detail::element_bytes<T>;
  const auto distance = stride * static_cast<std::ptrdiff_t>(bytes);
  if (distance == static_cast<std::ptrdiff_t>(columns * bytes)) return {first, rows * columns * bytes, 1, 0};
  return {first, columns * bytes, rows, distance};
}

/// In an order in which one comparison tells the cases apart.
enum class access_mode : std::uint8_t {
  out,          // overwrites; ordered like inout
  inout,        // reads and writes
  in,           // reads
  commutative,  // reads and writes; in any order with its like, one at a time
};

/// One declared access of a task.
struct access {
  region where;
  access_mode mode = access_mode::inout;
};

namespace detail {

template <class Object>
concept resizable = requires(Object& o) {
  o.resize(1);
};

template <class T>
region region_of(T&& x) noexcept {
  using object = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<object, region>) {
    return x;
  } else if constexpr (std::ranges::contiguous_range<T> && std::ranges::sized_range<T> && !resizable<object>) {
    static_assert(std::is_lvalue_reference_v<T> || std::ranges::borrowed_range<T>,
                  "this range is gone when the task runs; name the one that the task uses");
    return array_region(std::ranges::data(x), std::ranges::size(x));
  } else {
    static_assert(!std::is_pointer_v<object>,
                  "a pointer does not say how much it points to; write in(x) instead of in(&x), *p, or "
                  "array_region(p, count)");
    static_assert(std::is_lvalue_reference_v<T> || std::is_pointer_v<object>,
                  "this object is gone when the task runs; name the one that it uses");
    return {std::addressof(x), sizeof(object), 1, 0};
  }
}

template <class T>
constexpr bool is_constant() {
  if constexpr (std::ranges::contiguous_range<T> && !resizable<std::remove_cvref_t<T>>)
    return std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<T>>>;
  else
    return std::is_lvalue_reference_v<T> && std::is_const_v<std::remove_reference_t<T>> &&
           !std::is_same_v<std::remove_cvref_t<T>, region>;
}
/// Names an object that a task writes.
template <class T>
region written(T&& x) noexcept {
  static_assert(!is_constant<T>(), "a task cannot write what is const; declare it with in()");
  return region_of(std::forward<T>(x));
}

}  // namespace detail

template <class T>
access in(T&& x) noexcept {
  return {detail::region_of(std::forward<T>(x)), access_mode::in};
}
template <class T>
access out(T&& x) noexcept {
  return {detail::written(std::forward<T>(x)), access_mode::out};
}
template <class T>
access inout(T&& x) noexcept {
  return {detail::written(std::forward<T>(x)), access_mode::inout};
}
/// Tasks with commutative access to the same bytes, one given after the other, run in any order, but never two at the
/// same time. To all other accesses they are writers. A flow may keep apart also such tasks of which one shares no byte
/// with the other, if both share bytes with a third one.
template <class T>
access commutative(T&& x) noexcept {
  return {detail::written(std::forward<T>(x)), access_mode::commutative};
}

}  // namespace shoal

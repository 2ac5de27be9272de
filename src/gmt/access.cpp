// SPDX-License-Identifier: Apache-2.0
// The part of gmt.h about elements. The types of elements are known at run time only by their size: one branch leads to
// the templates of shoal/array.hpp.
#include <cstring>

#include "gmt/array.hpp"
#include "gmt/node_state.hpp"
#include "gmt/task_state.hpp"
#include "shoal/array.hpp"
#include "shoal/detail/array_access.hpp"

namespace shoal::gmt {
namespace {

using detail::array_layout;
using detail::verb;

// f(T{}) with the signed type of elements of so many bytes; ends the program if there is none.
template <class F>
[[gnu::always_inline]] inline decltype(auto) with_word(const char* function, gmt_data_t a, const array_layout& layout,
                                                       F&& f) {
  switch (layout.element_bytes) {
    case 8: return f(std::int64_t{});
    case 4: return f(std::int32_t{});
    case 2: return f(std::int16_t{});
    case 1: return f(std::int8_t{});
    default: refuse_width(function, a, layout.element_bytes);
  }
}

// One operation, complete when it returns. A function of its own, mostly called last: while a task waits, its stack has a
// small frame for the access, and it is in the cache again sooner.
template <verb V, class T>
[[gnu::noinline]] T run_word(const array_layout& layout, std::uint64_t elem, T value, T desired) {
  return detail::run_access<V, T>(layout, elem, value, desired);
}

bool is_aligned(const void* at, std::uint64_t bytes) noexcept {
  return (reinterpret_cast<std::uintptr_t>(at) & (bytes - 1)) == 0;
}

// The unit of bulk copies: elements that do not tear, if the program's memory is aligned as they are.
unsigned unit_of(const array_layout& layout, const void* memory) noexcept {
  const std::uint32_t bytes = layout.element_bytes;
  return bytes > 1 && is_word(bytes) && is_aligned(memory, bytes) ? bytes : 0;
}

// Calls f(element of the copy) for each copy of a replicated array; `elem`: of this node's copy.
template <class F>
void for_copies(const array_layout& layout, std::uint64_t elem, F&& f) {
  const std::uint64_t size = layout.size / layout.nodes;
  const std::uint32_t here = detail::t_port->node;
  for (std::uint32_t k = 0; k < layout.nodes; ++k) f(elem + size * k - size * here);
}

// What is not inlined keeps the frames of the fast paths small: each waiting task has one of them on its stack, and they
// are read from memory again when it continues.
[[gnu::noinline]] void begin_put(const array_layout& layout, std::uint64_t elem, const void* src, std::uint64_t count) {
  detail::bulk_put(layout, elem, src, count, unit_of(layout, src));
}
[[gnu::noinline]] void put_range(const array_layout& layout, std::uint64_t elem, const void* src, std::uint64_t count) {
  begin_put(layout, elem, src, count);
  detail::settle_bulk(layout, elem, count);
}
[[gnu::noinline]] void begin_get(const array_layout& layout, std::uint64_t elem, void* dst, std::uint64_t count) {
  detail::bulk_get(layout, elem, dst, count, unit_of(layout, dst));
}
[[gnu::noinline]] void get_range(const array_layout& layout, std::uint64_t elem, void* dst, std::uint64_t count) {
  begin_get(layout, elem, dst, count);
  detail::settle_bulk(layout, elem, count);
}

[[gnu::noinline]] void put_copies(const array_layout& known, std::uint64_t elem, const void* src, std::uint64_t count,
                                  bool complete) {
  const array_layout layout = known;
  for_copies(layout, elem, [&](std::uint64_t e) { begin_put(layout, e, src, count); });
  if (complete) shoal::wait();
}

[[gnu::noinline]] void put_value_copies(const array_layout& layout, std::uint64_t elem, std::uint64_t value,
                                        bool complete) {
  put_copies(layout, elem, &value, 1, complete);  // little-endian: the low bytes are the first
}

// Of a replicated array: the copy of node 0 decides, and the others follow.
template <class T>
[[gnu::noinline]] std::int64_t add_to_copies(const array_layout& known, std::uint64_t elem, T value) {
  const array_layout layout = known;
  const std::uint64_t size = layout.size / layout.nodes;
  const std::uint64_t first = elem % size;
  const T old = detail::run_access<verb::fetch_add, T>(layout, first, value, T{});
  for (std::uint64_t e = first + size; e < layout.size; e += size)
    detail::begin_access<verb::add, T>(layout, e, value, nullptr, T{});
  shoal::wait();
  return old;
}
template <class T>
[[gnu::noinline]] std::int64_t exchange_in_copies(const array_layout& known, std::uint64_t elem, T expected,
                                                  T desired) {
  const array_layout layout = known;
  const std::uint64_t size = layout.size / layout.nodes;
  const std::uint64_t first = elem % size;
  const T old = detail::run_access<verb::compare_exchange, T>(layout, first, expected, desired);
  if (old != expected) return old;
  for (std::uint64_t e = first + size; e < layout.size; e += size)
    detail::begin_access<verb::put, T>(layout, e, desired, nullptr, T{});
  shoal::wait();
  return old;
}

void extend(begun_operations::narrow r) noexcept {
  switch (r.bytes) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, which keeps its sign
    case 1: *r.at = *reinterpret_cast<const std::int8_t*>(r.at); break;
    case 2: *r.at = *reinterpret_cast<const std::int16_t*>(r.at); break;
    default: *r.at = *reinterpret_cast<const std::int32_t*>(r.at); break;
  }
}

[[gnu::noinline]] void wait_for_data() {
  shoal::wait();
  task_state* const s = task_state::here();
  if (s == nullptr || s->begun == nullptr) return;
  for (const begun_operations::narrow& r : s->begun->results) extend(r);
  s->begun->results.clear();
  s->begun->raw.wait_and_rethrow();
}

// Where the short result of an operation without wait goes: its sign is extended by the wait. nullptr: the caller is no
// task of this interface, whose wait would not do that.
template <class T>
[[gnu::noinline]] T* place_for(std::int64_t* ret) {
  if constexpr (sizeof(T) == sizeof *ret) {
    return ret;
  } else {
    task_state* const s = task_state::here();
    if (s == nullptr) return nullptr;
    constexpr std::size_t k_most_results = std::size_t{1} << 16;
    auto& results = s->operations().results;
    if (results.size() == k_most_results) wait_for_data();
    results.push_back({ret, sizeof(T)});
    return reinterpret_cast<T*>(ret);
  }
}

}  // namespace
}  // namespace shoal::gmt

using namespace shoal::gmt;  // for the C functions below
using shoal::detail::array_layout;
using shoal::detail::begin_access;
using shoal::detail::verb;

void gmt_put(gmt_data_t array, uint64_t elem, const void* src, uint64_t num_elem) {
  const array_layout& layout = checked("gmt_put", array, elem, num_elem);
  if (is_replicated(array)) return put_copies(layout, elem, src, num_elem, true);
  if (num_elem == 1 && is_word(layout.element_bytes))
    return with_word("gmt_put", array, layout, [&]<class T>(T value) {
      std::memcpy(&value, src, sizeof value);
      run_word<verb::put, T>(layout, elem, value, T{});
    });
  put_range(layout, elem, src, num_elem);
}

void gmt_put_nb(gmt_data_t array, uint64_t elem, const void* src, uint64_t num_elem) {
  const array_layout& layout = checked("gmt_put_nb", array, elem, num_elem);
  if (is_replicated(array)) return put_copies(layout, elem, src, num_elem, false);
  if (num_elem == 1 && is_word(layout.element_bytes))
    return with_word("gmt_put_nb", array, layout, [&]<class T>(T value) {
      std::memcpy(&value, src, sizeof value);
      begin_access<verb::put, T>(layout, elem, value, nullptr, T{});
    });
  begin_put(layout, elem, src, num_elem);
}

void gmt_put_value(gmt_data_t array, uint64_t elem, uint64_t value) {
  const array_layout& layout = checked("gmt_put_value", array, elem, 1);
  with_word("gmt_put_value", array, layout, [&]<class T>(T) {
    if (is_replicated(array)) return put_value_copies(layout, elem, value, true);
    run_word<verb::put, T>(layout, elem, static_cast<T>(value), T{});
  });
}

void gmt_put_value_nb(gmt_data_t array, uint64_t elem, uint64_t value) {
  const array_layout& layout = checked("gmt_put_value_nb", array, elem, 1);
  with_word("gmt_put_value_nb", array, layout, [&]<class T>(T) {
    if (is_replicated(array)) return put_value_copies(layout, elem, value, false);
    begin_access<verb::put, T>(layout, elem, static_cast<T>(value), nullptr, T{});
  });
}

void gmt_get(gmt_data_t array, uint64_t elem, void* dst, uint64_t num_elem) {
  const array_layout& layout = checked("gmt_get", array, elem, num_elem);
  if (num_elem == 1 && is_word(layout.element_bytes))
    return with_word("gmt_get", array, layout, [&]<class T>(T) {
      const T value = run_word<verb::get, T>(layout, elem, T{}, T{});
      std::memcpy(dst, &value, sizeof value);
    });
  get_range(layout, elem, dst, num_elem);
}

void gmt_get_nb(gmt_data_t array, uint64_t elem, void* dst, uint64_t num_elem) {
  const array_layout& layout = checked("gmt_get_nb", array, elem, num_elem);
  if (num_elem == 1 && is_word(layout.element_bytes) && is_aligned(dst, layout.element_bytes))
    return with_word("gmt_get_nb", array, layout,
                     [&]<class T>(T) { begin_access<verb::get, T>(layout, elem, T{}, static_cast<T*>(dst), T{}); });
  begin_get(layout, elem, dst, num_elem);
}

void gmt_memcpy(gmt_data_t src, uint64_t src_elem, gmt_data_t dst, uint64_t dst_elem, uint64_t num_elem) {
  const array_layout from = checked("gmt_memcpy", src, src_elem, num_elem);  // copies: freed arrays lose their layout
  const array_layout to = checked("gmt_memcpy", dst, dst_elem, num_elem);
  if (from.element_bytes != to.element_bytes) refuse("gmt_memcpy", "the elements of the two arrays have other sizes");
  const unsigned unit = unit_of(to, nullptr);
  if (!is_replicated(dst)) return shoal::detail::copy(to, dst_elem, from, src_elem, num_elem, unit);
  for_copies(to, dst_elem, [&](std::uint64_t e) {
    // Within one array each copy is moved by itself: the source of one must not be written before.
    const std::uint64_t of = src == dst ? e - dst_elem + src_elem : src_elem;
    shoal::detail::copy(to, e, from, of, num_elem, unit);
  });
}

int64_t gmt_atomic_add(gmt_data_t array, uint64_t elem, int64_t value) {
  const array_layout& layout = checked("gmt_atomic_add", array, elem, 1);
  return with_word("gmt_atomic_add", array, layout, [&]<class T>(T) -> std::int64_t {
    if (is_replicated(array)) return add_to_copies<T>(layout, elem, static_cast<T>(value));
    return run_word<verb::fetch_add, T>(layout, elem, static_cast<T>(value), T{});
  });
}

void gmt_atomic_add_nb(gmt_data_t array, uint64_t elem, int64_t value, int64_t* ret) {
  const array_layout& layout = checked("gmt_atomic_add_nb", array, elem, 1);
  with_word("gmt_atomic_add_nb", array, layout, [&]<class T>(T) {
    if (is_replicated(array)) {
      const std::int64_t old = add_to_copies<T>(layout, elem, static_cast<T>(value));
      if (ret != nullptr) *ret = old;
    } else if (ret == nullptr) {
      begin_access<verb::add, T>(layout, elem, static_cast<T>(value), nullptr, T{});
    } else if (T* const place = place_for<T>(ret); place != nullptr) {
      begin_access<verb::fetch_add, T>(layout, elem, static_cast<T>(value), place, T{});
    } else {
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, which keeps its sign
      *ret = run_word<verb::fetch_add, T>(layout, elem, static_cast<T>(value), T{});
    }
  });
}

int64_t gmt_atomic_cas(gmt_data_t array, uint64_t elem, int64_t old_value, int64_t new_value) {
  const array_layout& layout = checked("gmt_atomic_cas", array, elem, 1);
  return with_word("gmt_atomic_cas", array, layout, [&]<class T>(T) -> std::int64_t {
    const T expected = static_cast<T>(old_value);
    const T desired = static_cast<T>(new_value);
    if (is_replicated(array)) return exchange_in_copies<T>(layout, elem, expected, desired);
    return run_word<verb::compare_exchange, T>(layout, elem, expected, desired);
  });
}

void gmt_atomic_cas_nb(gmt_data_t array, uint64_t elem, int64_t old_value, int64_t new_value, int64_t* ret) {
  const array_layout& layout = checked("gmt_atomic_cas_nb", array, elem, 1);
  with_word("gmt_atomic_cas_nb", array, layout, [&]<class T>(T) {
    const T expected = static_cast<T>(old_value);
    const T desired = static_cast<T>(new_value);
    std::int64_t* const wanted = ret != nullptr ? ret : &node_state::here().worker().nobody;
    if (is_replicated(array)) {
      *wanted = exchange_in_copies<T>(layout, elem, expected, desired);
      return;
    }
    T* const place = ret == nullptr ? reinterpret_cast<T*>(wanted) : place_for<T>(ret);
    if (place != nullptr)
      begin_access<verb::compare_exchange, T>(layout, elem, expected, place, desired);
    else
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, which keeps its sign
      *ret = run_word<verb::compare_exchange, T>(layout, elem, expected, desired);
  });
}

void gmt_wait_data() { wait_for_data(); }

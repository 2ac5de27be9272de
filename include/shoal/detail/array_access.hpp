// SPDX-License-Identifier: Apache-2.0
// From a verb on an array to memory: a direct access if the owner's memory is mapped here, else a command.
// Who may call: tasks; run_access may switch, begin_access only when buffers are full.
// Shown by tests/cluster/array_test.cpp, tests/cluster/litmus_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "shoal/array_options.hpp"
#include "shoal/detail/array_layout.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/command.hpp"
#include "shoal/detail/element_access.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/detail/tsan_ignore.hpp"

namespace shoal {
struct distribution_plan;
struct memory_report;
}  // namespace shoal

namespace shoal::detail {

/// The element type of an array of T for code that knows it only at run time. bool has no sums: only bytes.
template <class T>
constexpr element array_element() noexcept {
  if constexpr (element_type<T> && !std::is_same_v<T, bool>)
    return element_of<T>();
  else
    return element::count;
}

/// The largest elements whose value travels with a request to fill.
inline constexpr std::size_t k_most_fill_bytes = 8 << 10;

/// `type`: element::count if the elements are only bytes.
array_layout allocate_array(std::uint64_t size, std::size_t element_bytes, element type, const distribution_plan& plan,
                            const allocation& how, memory_report* report);
void free_array(const array_layout& layout) noexcept;
void bulk_get(const array_layout& layout, std::uint64_t i, void* target, std::uint64_t count, unsigned unit);
void bulk_put(const array_layout& layout, std::uint64_t i, const void* values, std::uint64_t count, unsigned unit);
/// Waits for the bulk_get() or bulk_put() of these elements, and all before it. In handlers they must be this node's.
void settle_bulk(const array_layout& layout, std::uint64_t i, std::uint64_t count);
/// Elements of up to k_most_fill_bytes.
void fill(const array_layout& layout, const void* value, unsigned unit);
void copy(const array_layout& to, std::uint64_t to_i, const array_layout& from, std::uint64_t from_i,
          std::uint64_t count, unsigned unit);

/// End the process with a message that has the index, or the elements, and the size. In checked builds.
[[noreturn, gnu::cold, gnu::noinline]] void index_out_of_range(const array_layout& layout, std::uint64_t i) noexcept;
[[noreturn, gnu::cold, gnu::noinline]] void range_out_of_range(const array_layout& layout, std::uint64_t i,
                                                               std::uint64_t count) noexcept;

inline void check_index([[maybe_unused]] const port& p, [[maybe_unused]] const array_layout& layout,
                        [[maybe_unused]] std::uint64_t i) noexcept {
#ifdef SHOAL_CHECKED
  if (i >= layout.size) [[unlikely]]
    index_out_of_range(layout, i);
#endif
  SHOAL_CHECK(p.context->generations[layout.slot].load(std::memory_order_relaxed) == layout.generation,
              "a global array is used after it was freed");
}

/// In checked builds: ends the process if a cache relies on it that nobody modifies the array.
inline void check_write([[maybe_unused]] const port& p, [[maybe_unused]] const array_layout& layout) noexcept {
  SHOAL_CHECK(p.context->readers[layout.slot].load(std::memory_order_relaxed) == 0,
              "a global array is modified while a read_cache of it exists");
}

/// Writes a command for one element to the owner's stream, once expect(replies) has arranged for its reply, if it has
/// one, or has thrown; the values are words (to_word). Inlined, so that what the caller knows when it is compiled costs
/// nothing.
template <class Expect>
[[gnu::always_inline]] inline void write_command(port& p, array_layout::place at, verb what, element type,
                                                 std::uint64_t word, std::uint64_t desired, const Expect& expect) {
  const std::uint8_t code = operation(what, type);
  // The reply only now: whoever runs while this waits for room in the buffer expects replies, too.
  const auto room = [&p, at, what, &expect](std::size_t words) -> stream& {
    stream& s = room_for(p, at.node, words);
    if (is_replied(what)) expect(p.peers[at.node].replies);
    return s;
  };
  if (what == verb::get) {
    stream& s = room(1);
    *s.cursor++ = header(code, 0, at.offset);
  } else if (what == verb::compare_exchange) {
    stream& s = room(3);
    s.cursor[0] = header(code, 0, at.offset);
    s.cursor[1] = word;
    s.cursor[2] = desired;
    s.cursor += 3;
  } else {
    stream& s = room(2);
    if (fits_small(word)) {
      *s.cursor++ = header(code, word, at.offset);
    } else {
      s.cursor[0] = header(code, k_value_follows, at.offset);
      s.cursor[1] = word;
      s.cursor += 2;
    }
  }
}

/// For fetch(), which then says where the reply goes.
inline void reserve_reply(reply_list& replies) { replies.reserve(1); }

template <verb V, class T>
inline T run_access(const array_layout& layout, std::uint64_t i, T value, T desired) {
  const tsan_ignore_scope ignore;
  port& p = this_port();
  check_index(p, layout, i);
  if constexpr (V != verb::get) check_write(p, layout);
  const auto at = layout.template locate<T>(i);
  if (std::byte* base = p.bases[at.node]; base != nullptr) {
    T& element = *reinterpret_cast<T*>(base + at.offset);
    return attend(p) ? access<V, true>(element, value, desired) : access<V, false>(element, value, desired);
  }
  write_command(p, at, V, element_of<T>(), to_word(value), to_word(desired), reserve_reply);
  if constexpr (is_fetch(V)) {
    return from_word<T>(fetch(p, at.node));
  } else {
    settle_node(p, at.node);
    return value;
  }
}

template <verb V, bool Exclusive, class T>
void run_deferred(void* address, std::uint64_t value, void* target) noexcept {
  if constexpr (is_test(V)) {
    if (access_and_test<V, Exclusive>(*static_cast<T*>(address), from_word<T>(value)))
      ++*static_cast<std::uint64_t*>(target);
    return;
  } else {
    const T old = access<V, Exclusive>(*static_cast<T*>(address), from_word<T>(value));
    if constexpr (is_fetch(V)) *static_cast<T*>(target) = old;
  }
}

/// The type of what comes in reply to V.
template <verb V, class T>
using reply_target = std::conditional_t<is_test(V), std::uint64_t, T>;

/// The oldest deferred access is done, most often one like this one, and this one takes its place.
template <verb V, bool Exclusive, class T>
inline void defer_access(port& p, T* element, T value, reply_target<V, T>* target) noexcept {
  constexpr auto run = run_deferred<V, Exclusive, T>;
  __builtin_prefetch(element, V == verb::get ? 0 : 1);
  deferred_access& slot = p.window[p.window_next++ % k_window];
  if (slot.run == run) [[likely]]
    run_deferred<V, Exclusive, T>(slot.address, slot.value, slot.target);
  else
    slot.run(slot.address, slot.value, slot.target);
  slot.run = run;
  slot.address = element;
  slot.value = to_word(value);
  if constexpr (is_replied(V)) slot.target = target;
}

template <class T>
constexpr reply_kind reply_kind_of() noexcept {
  return sizeof(T) == 1   ? reply_kind::value_1
         : sizeof(T) == 2 ? reply_kind::value_2
         : sizeof(T) == 4 ? reply_kind::value_4
                          : reply_kind::value_8;
}

/// `target` of a test_ verb: is increased if the element has changed.
template <verb V, class T>
inline void begin_access(const array_layout& layout, std::uint64_t i, T value, reply_target<V, T>* target, T desired) {
  const tsan_ignore_scope ignore;
  port& p = this_port();
  check_index(p, layout, i);
  if constexpr (V != verb::get) check_write(p, layout);
  const auto at = layout.template locate<T>(i);
  ++p.async_issued;
  if (std::byte* base = p.bases[at.node]; base != nullptr) {
    const bool exclusive = attend(p);
    T* element = reinterpret_cast<T*>(base + at.offset);
    if constexpr (V == verb::compare_exchange)  // two values do not fit into the window
      *target = exclusive ? access<V, true>(*element, value, desired) : access<V, false>(*element, value, desired);
    else if (exclusive)
      defer_access<V, true>(p, element, value, target);
    else
      defer_access<V, false>(p, element, value, target);
    return;
  }
  write_command(p, at, V, element_of<T>(), to_word(value), to_word(desired), [target](reply_list& replies) {
    replies.expect(is_test(V) ? reply_kind::tally : reply_kind_of<T>(), target);
  });
}

}  // namespace shoal::detail

// SPDX-License-Identifier: Apache-2.0
// Verbs on the elements of a list of indices: gather and scatter. The list is processed in chunks: while one is
// executed, the elements of the next one are found, and prefetched where they are mapped. Requests to other nodes are the
// ordinary ones of 8 or 16 bytes; the replies to a row of requests have one entry in the list of those expected.
// Who may call: tasks and handlers; may switch only when buffers are full.
// Guarantees: as the async_ verbs. Mapped elements are complete when the functions return.
// Shown by tests/cluster/array_list_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "shoal/detail/array_access.hpp"

namespace shoal::detail {

/// The number type by which an element of type T travels in single commands; void if there is none.
template <class T>
using carrier = std::conditional_t<
    element_type<T>, T,
    std::conditional_t<copy_unit<T>() == 8, std::uint64_t,
                       std::conditional_t<copy_unit<T>() == 4, std::uint32_t,
                                          std::conditional_t<copy_unit<T>() == 2, std::uint16_t, void>>>>;
template <class T>
inline constexpr bool k_has_carrier = !std::is_void_v<carrier<T>>;

inline constexpr std::size_t k_list_chunk = 64;
static_assert(k_list_chunk <= reply_list::k_most_row);

/// Waits for what a function below has begun. `by_messages`: its result.
inline void settle_list(bool by_messages) {
  if (!by_messages) return;
  port& p = this_port();
  refuse_bare_verb(p);
  settle_all(p);
}

template <class T, bool ForStore, class Index>
[[gnu::always_inline]] inline void locate_list(const port& p, const array_layout& layout, const Index* indices,
                                               std::size_t count, array_layout::place* at) {
  for (std::size_t k = 0; k < count; ++k) {
    check_index(p, layout, indices[k]);
    at[k] = layout.template locate<T>(indices[k]);
    const std::byte* const base = p.bases[at[k].node];
    const void* const soon = base != nullptr ? static_cast<const void*>(base + at[k].offset) : &at[k];
    __builtin_prefetch(soon, ForStore ? 1 : 0);
  }
}

/// Calls mapped(k, address) or remote(k, places from k on, how many), which returns how many it took, until all of the
/// list is done. True if remote() was called.
template <class T, bool ForStore, class Index, class Mapped, class Remote>
[[gnu::always_inline]] inline bool for_list(port& p, const array_layout& layout, const Index* indices,
                                            std::uint64_t count, const Mapped& mapped, const Remote& remote) {
  const array_layout known = layout;  // nobody else can change it
  array_layout::place places[2][k_list_chunk];
  bool by_messages = false;
  std::size_t n = std::min<std::uint64_t>(k_list_chunk, count);
  locate_list<T, ForStore>(p, known, indices, n, places[0]);
  for (std::uint64_t done = 0, turn = 0; done < count; ++turn) {
    const std::size_t next = std::min<std::uint64_t>(k_list_chunk, count - done - n);
    locate_list<T, ForStore>(p, known, indices + done + n, next, places[(turn + 1) % 2]);
    const array_layout::place* const at = places[turn % 2];
    for (std::size_t k = 0; k < n;) {
      if (std::byte* const base = p.bases[at[k].node]; base != nullptr) {
        mapped(done + k, base + at[k].offset);
        ++k;
      } else {
        k += remote(done + k, at + k, n - k);
        by_messages = true;
      }
    }
    done += n;
    n = next;
    if (done % (4 * k_list_chunk) == 0) attend(p);
  }
  return by_messages;
}

/// Begins values[k] = element indices[k]. True if some of them come by messages.
template <class T, class Index>
bool gather_list(const array_layout& layout, const Index* indices, std::uint64_t count, T* values) {
  using word = carrier<T>;
  if (count == 0) return false;
  const tsan_ignore_scope ignore;
  port& p = this_port();
  ++p.async_issued;
  std::atomic_thread_fence(std::memory_order_release);
  const bool by_messages = for_list<T, false>(
      p, layout, indices, count,
      [values](std::uint64_t k, std::byte* at) {
        values[k] =
            std::bit_cast<T>(std::atomic_ref<word>(*reinterpret_cast<word*>(at)).load(std::memory_order_relaxed));
      },
      [&p, values](std::uint64_t first, const array_layout::place* at, std::size_t most) {
        const std::uint32_t node = at->node;
        stream& s = room_for(p, node, 1);
        most = std::min(most, static_cast<std::size_t>(s.limit - s.cursor));
        std::uint64_t* const to = s.cursor;
        std::size_t n = 0;
        do {
          to[n] = header(operation(verb::get, element_of<word>()), 0, at[n].offset);
          ++n;
        } while (n < most && at[n].node == node);
        p.peers[node].replies.expect_row(reply_kind_of<T>(), values + first, n);  // may throw
        s.cursor = to + n;
        return n;
      });
  std::atomic_thread_fence(std::memory_order_acquire);
  return by_messages;
}

/// Begins V, a verb without a result, on element indices[k] with values[k]. True if some of them go by messages.
template <verb V, class T, class Index>
bool scatter_list(const array_layout& layout, const Index* indices, std::uint64_t count, const T* values) {
  using word = carrier<T>;
  static_assert(!is_replied(V) && k_has_verb<V, word>);
  if (count == 0) return false;
  const tsan_ignore_scope ignore;
  port& p = this_port();
  check_write(p, layout);
  ++p.async_issued;
  const bool exclusive = attend(p);
  std::atomic_thread_fence(std::memory_order_release);
  const bool by_messages = for_list<T, true>(
      p, layout, indices, count,
      [values, exclusive](std::uint64_t k, std::byte* at) {
        word& element = *reinterpret_cast<word*>(at);
        if constexpr (V == verb::put)
          std::atomic_ref<word>(element).store(std::bit_cast<word>(values[k]), std::memory_order_relaxed);
        else if (exclusive)
          access<V, true>(element, values[k]);
        else
          access<V, false>(element, values[k]);
      },
      [&p, values](std::uint64_t first, const array_layout::place* at, std::size_t most) {
        constexpr std::uint8_t code = operation(V, element_of<word>());
        const std::uint32_t node = at->node;
        stream& s = room_for(p, node, 2);
        const std::uint64_t* const last = s.limit - 2;
        std::uint64_t* to = s.cursor;
        std::size_t n = 0;
        do {
          const std::uint64_t value = to_word(std::bit_cast<word>(values[first + n]));
          const bool small = fits_small(value);
          to[0] = header(code, small ? value : k_value_follows, at[n].offset);
          to[1] = value;
          to += small ? 1 : 2;
          ++n;
        } while (n < most && to <= last && at[n].node == node);
        s.cursor = to;
        return n;
      });
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return by_messages;
}

}  // namespace shoal::detail

// SPDX-License-Identifier: Apache-2.0
// Functions of the program on elements where they are: array_ref::update() and async_update().
// Who may call: tasks; async_update() handlers, too. update() switches where the element's memory is not mapped.
// Guarantees: an element that a command carries (1, 2, 4 or 8 bytes) changes by compare-exchange, so the function may run
// more than once, and its change is atomic with all other modifications, whoever makes them. A larger element is changed
// at its owner, under a lock that all updates of it take.
// Errors: an exception arrives at update() as shoal::remote_error, where the element is not mapped; in async_update() it
// ends the program. Checked builds end it where the function waits. Shown by tests/cluster/array_update_test.cpp.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <typeinfo>

#include "shoal/detail/answer.hpp"
#include "shoal/detail/array_lists.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/sync.hpp"

namespace shoal::detail {

/// While it exists, no other update of this node changes a large element at `offset`; nobody waits long. Ends the program
/// if the thread holds the lock.
class element_lock {
public:
  explicit element_lock(std::uint64_t offset);
  element_lock(const element_lock&) = delete;
  element_lock& operator=(const element_lock&) = delete;
  ~element_lock();

private:
  void* const held_;
};

template <class T, class F>
using update_result = std::invoke_result_t<const F&, T&>;

template <class T>
using bits_of = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

/// Where this process may change the element: the owner, or whoever maps a word of it.
template <class T, class F>
update_result<T, F> update_here(std::byte* at, std::uint64_t offset, const F& f, bool exclusive) {
#ifdef SHOAL_CHECKED
  const no_wait scope;
#endif
  T& element = *reinterpret_cast<T*>(at);
  if constexpr (!k_has_carrier<T>) {
    const element_lock alone(offset);
    return f(element);
  } else if (exclusive) {
    return f(element);
  } else {
    std::atomic_ref<bits_of<T>> cell(*reinterpret_cast<bits_of<T>*>(at));
    for (bits_of<T> old = cell.load(std::memory_order_seq_cst);;) {
      T value = std::bit_cast<T>(old);
      const auto exchanged = [&] {
        const auto changed = std::bit_cast<bits_of<T>>(value);
        return changed == old || cell.compare_exchange_weak(old, changed, std::memory_order_seq_cst);
      };
      if constexpr (std::is_void_v<update_result<T, F>>) {
        f(value);
        if (exchanged()) return;
      } else {
        const update_result<T, F> result = f(value);
        if (exchanged()) return result;
      }
    }
  }
}

/// What an update sends.
template <class F>
struct update_request {
  std::uint64_t offset;
  F f;
};

/// Executes a request that has arrived; `before`: words in front of it.
template <class T, class F>
update_result<T, F> update_arrived(const arrival& a, std::size_t before) {
  constexpr std::size_t k_words = packed<update_request<F>>::k_words;
  SHOAL_ASSERT(a.payload.size() == before + k_words,
               "another node's message has the wrong length: the programs differ");
  const port& p = *a.worker.port;
  std::byte* const base = p.bases[p.node];
  // A later message of this kind, if there is one at this distance; other words lead to a prefetch in vain.
  constexpr std::size_t k_ahead = 10;
  const std::size_t distance = (k_ahead - 1) * (1 + before + k_words) + 1 + before;
  if (a.later.size() > distance) __builtin_prefetch(base + (a.later[distance] & k_offset_mask), 1);
  const auto request = packed<update_request<F>>::read(a.payload.data() + before);
  const bool exclusive = (p.unusual.load(std::memory_order_relaxed) & k_exclusive) != 0;
  const handler_scope as_handler(a.worker, typeid(F).name());
  return update_here<T>(base + request.offset, request.offset, request.f, exclusive);
}

template <class T, class F>
void receive_update(const arrival& a) noexcept {
  try {
    update_arrived<T, F>(a, 0);
  } catch (...) {
    refuse_exception(typeid(F).name());
  }
}

template <class R>
void receive_updated(const arrival& a) noexcept {
  const expected_answer expected = take_answer(a);
  if constexpr (!std::is_void_v<R>)
    static_cast<std::optional<R>*>(expected.target)->emplace(packed<R>::read(a.payload.data() + 1));
  expected.calls->done();
}

// A message: name of the answer, request.
template <class T, class F>
void receive_update_question(const arrival& a) noexcept {
  using result = update_result<T, F>;
  const std::uint64_t name = a.payload[0];
  static const std::uint64_t code = code_of(receiver_of<receive_updated<result>>());
  const auto answer = [&a, name](const auto&... value) {
    const handler_scope never_waits(a.worker, typeid(F).name());
    const std::size_t words = 1 + (packed<std::remove_cvref_t<decltype(value)>>::k_words + ... + 0);
    stream& s = begin_message(a.worker, a.from, code, words);
    s.cursor[0] = name;
    (packed<std::remove_cvref_t<decltype(value)>>::write(value, s.cursor + 1), ...);
    s.cursor += words;
  };
  try {
    if constexpr (std::is_void_v<result>) {
      update_arrived<T, F>(a, 1);
      answer();
    } else {
      answer(update_arrived<T, F>(a, 1));
    }
  } catch (...) {
    const handler_scope never_waits(a.worker, typeid(F).name());
    send_failure(a.worker, a.from, name);
  }
}

/// Whether an update of the element runs here; its address, then.
template <class T>
std::byte* place_of_update(port& p, array_layout::place at) noexcept {
  std::byte* const base = p.bases[at.node];
  return base != nullptr && (k_has_carrier<T> || at.node == p.node) ? base + at.offset : nullptr;
}

/// Functions of up to two words pass through the window, with elements that need no lock.
template <class T, class F>
inline constexpr bool k_is_deferred_update = k_has_carrier<T>&& packed<F>::k_words <= 2;

template <class T, class F, bool Exclusive>
void run_deferred_update(void* address, std::uint64_t value, void* target) noexcept {
  const std::uint64_t words[2] = {value, reinterpret_cast<std::uintptr_t>(target)};
  try {
    update_here<T>(static_cast<std::byte*>(address), 0, packed<F>::read(words), Exclusive);
  } catch (...) {
    refuse_exception(typeid(F).name());
  }
}

/// As defer_access().
template <class T, class F, bool Exclusive>
void defer_update(port& p, std::byte* element, const F& f) noexcept {
  constexpr auto run = run_deferred_update<T, F, Exclusive>;
  __builtin_prefetch(element, 1);
  deferred_access& slot = p.window[p.window_next++ % k_window];
  slot.run(slot.address, slot.value, slot.target);
  std::uint64_t words[2] = {};
  packed<F>::write(f, words);
  slot = {run, element, words[0], reinterpret_cast<void*>(words[1])};
}

/// An async_update() of an element that this process may change.
template <class T, class F>
void update_soon(port& p, std::byte* element, std::uint64_t offset, const F& f) noexcept {
  const bool exclusive = attend(p);
  if constexpr (k_is_deferred_update<T, F>) {
    exclusive ? defer_update<T, F, true>(p, element, f) : defer_update<T, F, false>(p, element, f);
  } else {
    try {
      update_here<T>(element, offset, f, exclusive);
    } catch (...) {
      refuse_exception(typeid(F).name());
    }
  }
}

template <class F>
inline constexpr bool k_fits_update = packed<update_request<F>>::k_words <= 64;

template <class T, class F>
void begin_update(const array_layout& layout, std::uint64_t i, const F& f) {
  static_assert(k_fits_update<F>, "a function for async_update() has at most 500 bytes: capture less");
  const tsan_ignore_scope ignore;
  worker_base& w = worker_here();
  port& p = *w.port;
  check_index(p, layout, i);
  check_write(p, layout);
  check_capture(f);
  const auto at = layout.template locate<T>(i);
  if (std::byte* const here = place_of_update<T>(p, at); here != nullptr) {
    ++p.async_issued;
    update_soon<T>(p, here, at.offset, f);
    return;
  }
  using request = packed<update_request<F>>;
  static const std::uint64_t code = code_of(receiver_of<receive_update<T, F>>());
  stream& s = begin_message(w, at.node, code, request::k_words);
  request::write({at.offset, f}, s.cursor);
  s.cursor += request::k_words;
}

template <class T, class F>
update_result<T, F> run_update(const array_layout& layout, std::uint64_t i, const F& f) {
  static_assert(k_fits_update<F>, "a function for update() has at most 500 bytes: capture less");
  worker_base& w = worker_here();
  port& p = *w.port;
  check_index(p, layout, i);
  check_write(p, layout);
  check_capture(f);
  const auto at = layout.template locate<T>(i);
  if (std::byte* const here = place_of_update<T>(p, at); here != nullptr)
    return update_here<T>(here, at.offset, f, attend(p));
  refuse_bare_verb(p);
  using result = update_result<T, F>;
  using request = packed<update_request<F>>;
  static const std::uint64_t code = code_of(receiver_of<receive_update_question<T, F>>());
  std::conditional_t<std::is_void_v<result>, int, std::optional<result>> answer{};
  completion calls;  // after the answer: waits before it goes
  const std::uint64_t name = expect_answer(calls, at.node, &answer);
  try {
    const tsan_ignore_scope ignore;
    stream& s = begin_message(w, at.node, code, 1 + request::k_words);
    s.cursor[0] = name;
    request::write({at.offset, f}, s.cursor + 1);
    s.cursor += 1 + request::k_words;
  } catch (...) {  // no memory: nothing was sent
    forget_answer(calls, at.node, name);
    throw;
  }
  calls.wait_and_rethrow();
  if constexpr (!std::is_void_v<result>) return *answer;
}

}  // namespace shoal::detail

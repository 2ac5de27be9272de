// SPDX-License-Identifier: Apache-2.0
// Operations on objects of nodes (node_local), executed by the worker that decodes their message: what the containers
// are made of. An operation is a type:
//   struct op { using object = shard; using result = bool; using arguments = std::tuple<int>;
//               static constexpr bool k_calls_program = false;          // whether it runs functions of the program
//               static result run(object&, int&&);
//               static void prefetch(const object&, const int&); };     // optional: some messages before run()
// Who may call: tasks; async_invoke() handlers, too. invoke() switches tasks, async_invoke() only when buffers are full.
// Guarantees: executed once. On this node invoke() executes at once, and async_invoke(), unless a handler calls it, a few
// operations later if arguments are short and memory can be prefetched. Complete as async_ verbs are. Arguments and
// results are serialized (shoal/serializer.hpp), below 12 KiB.
// Errors: what run() throws arrives at invoke() as shoal::remote_error; in async_invoke() it ends the program.
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "shoal/detail/answer.hpp"
#include "shoal/detail/call.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/detail/shared_message.hpp"
#include "shoal/node_local.hpp"
#include "shoal/serializer.hpp"

namespace shoal::detail {

/// Instead of void, which no variable can have.
struct nothing {};

/// The base of operations on the objects of a node_local.
template <class Object>
struct at_node_local {
  using object = Object;
};

template <class Op, class... Arguments>
typename Op::result run_operation(worker_base& w, typename Op::object& object, Arguments&&... arguments) {
  if constexpr (Op::k_calls_program) {
    const handler_scope as_handler(w, typeid(Op).name());
    return Op::run(object, std::forward<Arguments>(arguments)...);
  } else {
    return Op::run(object, std::forward<Arguments>(arguments)...);
  }
}

template <class... Arguments>
std::size_t bytes_of(const Arguments&... arguments) {
  return (serializer<Arguments>::bytes(arguments) + ... + std::size_t{0});
}
template <class... Arguments>
void write_words(std::uint64_t* words, std::size_t count, std::size_t bytes, const Arguments&... arguments) {
  if (count == 0) return;
  words[count - 1] = 0;
  byte_writer to(words);
  (serializer<Arguments>::write(arguments, to), ...);
  SHOAL_ASSERT(to.position() == reinterpret_cast<const std::byte*>(words) + bytes,
               "a shoal::serializer has not written as many bytes as its bytes() says");
}
template <class Tuple>
struct read_from;
template <class... Arguments>
struct read_from<std::tuple<Arguments...>> {
  static constexpr bool k_fixed = (k_has_fixed_bytes<Arguments> && ...);
  static constexpr std::size_t k_words = [] {
    if constexpr (k_fixed)
      return words_for((sizeof(Arguments) + ... + std::size_t{0}));
    else
      return std::size_t{0};
  }();
  static std::tuple<Arguments...> read(const std::uint64_t* words, std::size_t count) {
    byte_reader from(words, count * sizeof(std::uint64_t));
    return std::tuple<Arguments...>{serializer<Arguments>::read(from)...};
  }
};
template <class Op>
using arguments_in = read_from<typename Op::arguments>;

template <class Op>
typename Op::object& object_at(std::uint64_t place) noexcept {
  return *node_local_ref<typename Op::object>(symmetric_ptr<typename Op::object*>(place));
}

template <class Op>
concept prefetching = arguments_in<Op>::k_fixed && requires {
  Op::prefetch;
};

/// How many messages ahead of the executed one memory is prefetched.
inline constexpr std::size_t k_messages_ahead = 10;

/// The memory that a later message of the same kind, if there is one at this distance, will need.
template <class Op, std::size_t Before>
void prefetch_later(const arrival& a) {
  if constexpr (prefetching<Op>) {
    constexpr std::size_t k_words = 1 + Before + arguments_in<Op>::k_words;  // of a message
    constexpr std::size_t k_distance = (k_messages_ahead - 1) * k_words;
    if (a.later.size() < k_distance + k_words) return;
    const std::uint64_t* const at = a.later.data() + k_distance;
    // Words that only look like such a message name this object, too, and lead to a prefetch in vain.
    if (*at != a.payload.data()[-1] || at[1] != a.payload[0]) return;
    std::apply([&a](const auto&... arguments) { Op::prefetch(object_at<Op>(a.payload[0]), arguments...); },
               arguments_in<Op>::read(at + 1 + Before, arguments_in<Op>::k_words));
  }
}

template <class Op, std::size_t Before>
typename Op::result run_received(const arrival& a) {
  SHOAL_ASSERT(a.payload.size() >= Before, "another node's message is too short: the nodes' programs differ");
  prefetch_later<Op, Before>(a);
  return std::apply(
      [&a](auto&&... arguments) {
        return run_operation<Op>(a.worker, object_at<Op>(a.payload[0]), std::move(arguments)...);
      },
      arguments_in<Op>::read(a.payload.data() + Before, a.payload.size() - Before));
}

/// Whether several operations of this kind on one object may share a message: their arguments lie one behind the other.
template <class Op>
inline constexpr bool k_shares_message = arguments_in<Op>::k_fixed&& arguments_in<Op>::k_words > 0;

/// The operations in a message, with the memory of later ones prefetched.
template <class Op>
void run_all_received(const arrival& a) {
  using arguments = arguments_in<Op>;
  const std::span<const std::uint64_t> all = a.payload.subspan(1);
  SHOAL_ASSERT(all.size() % arguments::k_words == 0, "another node's message is too short: the nodes' programs differ");
  typename Op::object& object = object_at<Op>(a.payload[0]);
  const std::size_t count = all.size() / arguments::k_words;
  const auto read = [all](std::size_t i) {
    return arguments::read(all.data() + i * arguments::k_words, arguments::k_words);
  };
  [[maybe_unused]] const auto prefetch = [&](std::size_t i) {
    if constexpr (prefetching<Op>)
      std::apply([&object](const auto&... values) { Op::prefetch(object, values...); }, read(i));
  };
  if constexpr (prefetching<Op>)
    for (std::size_t i = 0; i < std::min(count, k_messages_ahead); ++i) prefetch(i);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + k_messages_ahead < count) prefetch(i + k_messages_ahead);
    std::apply([&](auto&&... values) { run_operation<Op>(a.worker, object, std::move(values)...); }, read(i));
  }
}

// A message: place of the object; arguments, of one operation or more.
template <class Op>
void receive_operation(const arrival& a) noexcept {
  try {
    if constexpr (k_shares_message<Op>) {
      if (a.payload.size() > 1 + arguments_in<Op>::k_words) return run_all_received<Op>(a);
    }
    run_received<Op, 1>(a);
  } catch (...) {
    refuse_exception(typeid(Op).name());
  }
}

template <class Result>
void receive_result(const arrival& a) noexcept {
  const expected_answer expected = take_answer(a);
  byte_reader from(a.payload.data() + 1, (a.payload.size() - 1) * sizeof(std::uint64_t));
  try {
    static_cast<std::optional<Result>*>(expected.target)->emplace(serializer<Result>::read(from));
  } catch (...) {
    expected.calls->fail(std::current_exception());
  }
  expected.calls->done();
}

// A message: place of the object, name of the answer, arguments.
template <class Op>
void receive_question(const arrival& a) noexcept {
  using result = typename Op::result;
  const std::uint64_t name = a.payload[1];
  try {
    const result r = run_received<Op, 2>(a);
    const std::size_t bytes = bytes_of(r);
    const std::size_t words = 1 + words_for(bytes);
    if (words > k_most_payload_words) refuse_long_message(bytes);
    static const std::uint64_t code = code_of(receiver_of<receive_result<result>>());
    const handler_scope never_waits(a.worker, typeid(Op).name());
    stream& s = begin_message(a.worker, a.from, code, words);
    s.cursor[0] = name;
    write_words(s.cursor + 1, words - 1, bytes, r);
    s.cursor += words;
  } catch (...) {
    const handler_scope never_waits(a.worker, typeid(Op).name());
    send_failure(a.worker, a.from, name);
  }
}

/// The bytes of the arguments of a message. Refuses those that are too long, on all nodes alike.
template <class... Arguments>
std::size_t checked_bytes(const Arguments&... arguments) {
  const std::size_t bytes = bytes_of(arguments...);
  if (2 + words_for(bytes) > k_most_payload_words) refuse_long_message(bytes);
  return bytes;
}

/// On this node: as it would be on another.
template <class Op, class... Arguments>
typename Op::result run_here(worker_base& w, typename Op::object& object, const Arguments&... arguments) {
  if constexpr (!Op::k_calls_program) {
    return run_operation<Op>(w, object, Arguments(arguments)...);
  } else {
    try {
      return run_operation<Op>(w, object, Arguments(arguments)...);
    } catch (...) {
      rethrow_as_remote();
    }
  }
}

template <class T>
void check_argument([[maybe_unused]] const T& value) noexcept {
  if constexpr (std::is_class_v<T> && std::is_trivially_copyable_v<T>) check_capture(value);
}

/// An operation on this node that fits into the window of deferred accesses: its arguments take the place of the values.
template <class Op>
inline constexpr bool k_fits_window = prefetching<Op>&& arguments_in<Op>::k_words <= 2;

template <class Op>
void run_deferred_operation(void* object, std::uint64_t first, void* second) noexcept {
  const std::uint64_t words[2] = {first, reinterpret_cast<std::uint64_t>(second)};
  try {
    std::apply(
        [object](auto&&... arguments) {
          run_operation<Op>(worker_here(), *static_cast<typename Op::object*>(object), std::move(arguments)...);
        },
        arguments_in<Op>::read(words, 2));
  } catch (...) {
    refuse_exception(typeid(Op).name());
  }
}

template <class Op, class... Arguments>
void defer_operation(port& p, typename Op::object& object, std::size_t bytes, const Arguments&... arguments) noexcept {
  std::uint64_t words[2] = {};
  write_words(words, words_for(bytes), bytes, arguments...);
  Op::prefetch(object, arguments...);
  deferred_access& slot = p.window[p.window_next++ % k_window];
  slot.run(slot.address, slot.value, slot.target);
  slot = {run_deferred_operation<Op>, &object, words[0], reinterpret_cast<void*>(words[1])};
}

template <class Op, class... Arguments>
void async_invoke(node_local_ref<typename Op::object> object, std::uint32_t node, const Arguments&... arguments) {
  worker_base& w = worker_here();
  (check_argument(arguments), ...);
  const std::size_t bytes = checked_bytes(arguments...);
  if (node == w.port->node && !is_for_handlers(*w.port)) {
    if constexpr (k_fits_window<Op>) {
      const tsan_ignore_scope ignore;
      ++w.port->async_issued;
      attend(*w.port);
      defer_operation<Op>(*w.port, *object, bytes, arguments...);
    } else {
      try {
        run_operation<Op>(w, *object, Arguments(arguments)...);
      } catch (...) {
        refuse_exception(typeid(Op).name());
      }
    }
    return;
  }
  static const std::uint64_t code = code_of(receiver_of<receive_operation<Op>>());
  const std::size_t words = words_for(bytes);
  const tsan_ignore_scope ignore;
  if constexpr (k_shares_message<Op>) {
    if (!is_for_handlers(*w.port)) {
      write_words(begin_shared(w, node, code, object.place().offset(), words), words, bytes, arguments...);
      return;
    }
  }
  stream& s = begin_operation(w, node, code, object.place().offset(), words);
  write_words(s.cursor, words, bytes, arguments...);
  s.cursor += words;
}

/// Writes an operation for another node through a task's port, if that needs no wait. The caller has counted it in
/// async_issued; `bytes`: of the arguments.
template <class Op, class... Arguments>
bool try_async_invoke(port& p, node_local_ref<typename Op::object> object, std::uint32_t node, std::size_t bytes,
                      const Arguments&... arguments) {
  static const std::uint64_t code = code_of(receiver_of<receive_operation<Op>>());
  const std::size_t words = words_for(bytes);
  std::uint64_t* const at = try_begin_shared(p, node, code, object.place().offset(), words, k_shares_message<Op>);
  if (at == nullptr) return false;
  write_words(at, words, bytes, arguments...);
  return true;
}

/// Sends a question whose answer goes to `answer`, as one of the operations that `calls` counts.
template <class Op, class... Arguments>
void ask(completion& calls, std::optional<typename Op::result>& answer, worker_base& w,
         node_local_ref<typename Op::object> object, std::uint32_t node, std::size_t bytes,
         const Arguments&... arguments) {
  static const std::uint64_t code = code_of(receiver_of<receive_question<Op>>());
  const std::size_t words = 1 + words_for(bytes);
  const tsan_ignore_scope ignore;
  const std::uint64_t name = expect_answer(calls, node, &answer);
  try {
    stream& s = begin_operation(w, node, code, object.place().offset(), words);
    s.cursor[0] = name;
    write_words(s.cursor + 1, words - 1, bytes, arguments...);
    s.cursor += words;
  } catch (...) {  // no memory: nothing was sent
    forget_answer(calls, node, name);
    throw;
  }
}

template <class Op, class... Arguments>
typename Op::result invoke(node_local_ref<typename Op::object> object, std::uint32_t node,
                           const Arguments&... arguments) {
  worker_base& w = worker_here();
  (check_argument(arguments), ...);
  const std::size_t bytes = checked_bytes(arguments...);
  if (node == w.port->node) return run_here<Op>(w, *object, arguments...);
  if (is_for_handlers(*w.port)) refuse_bare_verb(*w.port);
  std::optional<typename Op::result> answer;
  completion calls;  // after the answer: waits before it goes
  ask<Op>(calls, answer, w, object, node, bytes, arguments...);
  calls.wait_and_rethrow();
  return std::move(*answer);
}

/// invoke() for many keys, at most k_most_questions of them in flight: take(i, result) for each i.
inline constexpr std::size_t k_most_questions = 4096;
template <class Op, class Owner, class KeyAt, class Take>
void invoke_all(node_local_ref<typename Op::object> object, std::size_t count, const Owner& owner, const KeyAt& key_at,
                const Take& take) {
  worker_base& w = worker_here();
  std::vector<std::optional<typename Op::result>> answers(std::min(count, k_most_questions));
  for (std::size_t first = 0; first < count; first += answers.size()) {
    const std::size_t n = std::min(count - first, answers.size());
    completion calls;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t node = owner(first + i);
      if (node == w.port->node) {
        if constexpr (prefetching<Op>) {
          const std::size_t ahead = std::min(i + k_messages_ahead, n - 1);
          const tsan_ignore_scope ignore;
          Op::prefetch(*object, key_at(first + ahead));
        }
        take(first + i, run_here<Op>(w, *object, key_at(first + i)));
      } else {
        if (is_for_handlers(*w.port)) refuse_bare_verb(*w.port);
        answers[i].reset();
        ask<Op>(calls, answers[i], w, object, node, checked_bytes(key_at(first + i)), key_at(first + i));
      }
    }
    calls.wait_and_rethrow();
    for (std::size_t i = 0; i < n; ++i)
      if (answers[i]) take(first + i, std::move(*std::exchange(answers[i], std::nullopt)));
  }
}

}  // namespace shoal::detail

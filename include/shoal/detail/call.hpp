// SPDX-License-Identifier: Apache-2.0
// Calls on other nodes with results and exceptions: what loops over nodes, on() and arrays are made of.
// Who may call: tasks. begin_call may switch tasks (when buffers are full). A completion counts the calls; whoever
// began them waits for it.
// Guarantees: the function runs as a task of its own on the node and may wait; its answer, or its exception as type
// name, message and origin, comes back when it has ended and all that it began asynchronously is complete.
// Arguments and answer are words: trivially copyable values, at most k_most_call_words.
// Shown by tests/cluster/call_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <typeinfo>

#include "shoal/detail/command.hpp"
#include "shoal/detail/completion.hpp"
#include "shoal/detail/registered_body.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {

inline constexpr std::size_t k_most_call_words = 1500;

/// Runs on the called node; reads its arguments, writes at most k_most_call_words to `answer` and returns their number.
using callee_function = std::size_t (*)(std::uint32_t from, std::span<const std::uint64_t> arguments,
                                        std::uint64_t* answer);
/// A callee that is registered: callee_of<f>().
using callee = const typed_body<body_kind::callee, callee_function>&;

template <callee_function F>
struct [[gnu::visibility("hidden")]] callee_body {
  static std::size_t run(std::uint32_t from, std::span<const std::uint64_t> arguments, std::uint64_t * answer) {
    return F(from, arguments, answer);
  }
  static inline typed_body<body_kind::callee, callee_function> entry{run};
};
template <callee_function F>
[[gnu::visibility("hidden")]] inline callee callee_of() noexcept {
  return callee_body<F>::entry;
}

/// Calls `code` on `node`, as one of the operations that `calls` counts. The answer goes to `answer`, at most
/// `answer_words`, which must live until `calls` has been waited for; nullptr: the answer is empty. An exception
/// becomes the failure of `calls`, as shoal::remote_error.
void begin_call(completion& calls, std::uint32_t node, callee code, std::span<const std::uint64_t> arguments,
                std::uint64_t* answer = nullptr, std::size_t answer_words = 0);

/// Throws the exception that is being handled again, as it would arrive from another node.
[[noreturn]] void rethrow_as_remote();

/// Ends the program if a word of `capture` points into this process.
void check_words(const void* capture, std::size_t bytes, const char* type) noexcept;

/// In checked builds: ends the program if `f` holds a pointer into this process.
template <class F>
inline void check_capture([[maybe_unused]] const F& f) noexcept {
#ifdef SHOAL_CHECKED
  if constexpr (!std::is_empty_v<F>) {
    F copy = f;
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&copy);  // padding has no defined value
#endif
#endif
    check_words(&copy, sizeof(F), typeid(F).name());
  }
#endif
}

/// A trivially copyable value as words, and back.
template <class T>
struct packed {
  static_assert(std::is_trivially_copyable_v<T>,
                "what travels between nodes must be trivially copyable: capture values and array references, not "
                "containers or references");
  static constexpr std::size_t k_words = words_for(sizeof(T));
  static_assert(k_words + 8 <= k_most_call_words, "what travels between nodes in one piece must be below 11 KiB");

  static void write(const T& value, std::uint64_t* words) noexcept {
    words[k_words - 1] = 0;
    std::memcpy(words, &value, sizeof(T));
  }
  static T read(const std::uint64_t* words) noexcept {
    alignas(T) std::byte bytes[sizeof(T)];
    std::memcpy(bytes, words, sizeof(T));
    return *std::launder(reinterpret_cast<T*>(bytes));
  }
};

}  // namespace shoal::detail

// SPDX-License-Identifier: Apache-2.0
// Calls on other nodes with results and exceptions: what loops over nodes, on() and arrays are made of.
// Who may call: tasks. begin_call may switch (when buffers are full), call_state::wait does.
// Guarantees: the function runs as a task of its own on the node and may wait; its answer, or its exception as type
// name, message and origin, comes back when it has ended and all that it began asynchronously is complete.
// Arguments and answer are words: trivially copyable values, at most k_most_call_words.
// Shown by tests/cluster/call_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "shoal/detail/command.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {

inline constexpr std::size_t k_most_call_words = 1500;

/// Runs on the called node; reads its arguments, writes at most k_most_call_words to `answer` and returns their number.
using callee = std::size_t (*)(std::uint32_t from, std::span<const std::uint64_t> arguments, std::uint64_t* answer);

struct failure {
  int code = 0;  // errc
  std::uint32_t node = 0;
  std::string type;
  std::string message;
};

/// One or more calls that are waited for together. Lives until wait() has returned.
class call_state {
public:
  call_state() = default;
  call_state(const call_state&) = delete;
  call_state& operator=(const call_state&) = delete;
  ~call_state();

  /// Waits for all calls begun with this state; throws the first failure as shoal::remote_error.
  void wait();

  // For the answer's receiver, on the caller's worker or a sibling of it:
  void answered(std::span<const std::uint64_t> words) noexcept;
  void failed(failure f) noexcept;

private:
  friend void begin_call(call_state&, std::uint32_t, callee, std::span<const std::uint64_t>, std::uint64_t*,
                         std::size_t);
  void one_less() noexcept;
  void wait_for_all() noexcept;

  std::int64_t begun_ = 0;
  std::uint64_t* answer_ = nullptr;  // room for answer_words_; with several calls the answers must be empty
  std::size_t answer_words_ = 0;
  std::unique_ptr<failure> failure_;
  std::atomic<bool> has_failed_{false};
  std::atomic<std::int64_t> ended_{0};
  suspended* waiter_ = nullptr;
};

void begin_call(call_state& state, std::uint32_t node, callee code, std::span<const std::uint64_t> arguments,
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
    __builtin_clear_padding(&copy);  // what lies between the members is nobody's
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

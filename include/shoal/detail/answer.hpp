// SPDX-License-Identifier: Apache-2.0
// Answers to messages whose receivers are handlers: a call (call.hpp) without a task of its own. The message carries a
// name; who answers sends the name and a value, or a failure.
// Who may call: expect_answer() and forget_answer() tasks; the others in a receiver. They never switch tasks.
// Guarantees: a name is taken once, and only by the node that was asked.
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shoal/detail/completion.hpp"
#include "shoal/detail/message.hpp"

namespace shoal::detail {

/// Counts one operation in `calls` and returns what names it to `node`. take_answer() gives `target` back.
std::uint64_t expect_answer(completion& calls, std::uint32_t node, void* target);
/// Nothing was sent.
void forget_answer(completion& calls, std::uint32_t node, std::uint64_t name) noexcept;

struct expected_answer {
  completion* calls;
  void* target;
};
/// What expects the answer that has arrived, whose first word is a name. The caller ends it: calls->done().
expected_answer take_answer(const arrival& a) noexcept;

/// In a handler of an exception: the exception is the answer.
void send_failure(worker_base& w, std::uint32_t node, std::uint64_t name);
/// In a handler of an exception that nobody waits for: ends the process with a message that names `what`.
[[noreturn]] void refuse_exception(const char* what) noexcept;

/// Throws shoal::error (invalid_argument).
[[noreturn]] void refuse_long_message(std::size_t bytes);

}  // namespace shoal::detail

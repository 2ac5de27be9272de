// SPDX-License-Identifier: Apache-2.0
// Two assertions. SHOAL_ASSERT is always on: it costs one predicted branch and ends the process with the message, the
// place and the function. SHOAL_CHECK is on only in checked builds (SHOAL_CHECKED); elsewhere its condition is
// compiled but never evaluated. Both are for misuse and broken invariants; the environment and bad input throw
// shoal::error instead. Who may call: anyone, any thread, hot paths too. Never switches tasks.
// Shown by tests/unit/base/assert_test.cpp.
#pragma once

namespace shoal::detail {

/// Writes one line to standard error and aborts. Out of line, so that an assertion costs its branch only.
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed(const char* message, const char* file, int line,
                                                             const char* function) noexcept;

}  // namespace shoal::detail

#define SHOAL_ASSERT(cond, message)                                             \
  do {                                                                          \
    if (!(cond)) [[unlikely]]                                                   \
      ::shoal::detail::assertion_failed(message, __FILE__, __LINE__, __func__); \
  } while (false)

#ifdef SHOAL_CHECKED
#define SHOAL_CHECK(cond, message) SHOAL_ASSERT(cond, message)
#else
#define SHOAL_CHECK(cond, message)             \
  do {                                         \
    static_cast<void>(sizeof((cond) ? 1 : 0)); \
  } while (false)
#endif

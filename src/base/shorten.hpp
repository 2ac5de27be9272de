// SPDX-License-Identifier: Apache-2.0
// Long messages in short buffers. A message begins with what is wrong and ends with what to do, so the middle is left
// out, and a mark stands there.
// Who may call: any thread, hot paths and failed assertions too. Does not allocate, never switches tasks.
// Test: tests/unit/base/shorten_test.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal::base {

/// What stands in place of the part that is left out.
inline constexpr std::string_view k_omission = " [...] ";

/// Copies `text` to [to, to + bytes), shortened if it is longer, without an end mark; returns its length. Does not cut a
/// UTF-8 character in two.
std::size_t copy_shortened(std::string_view text, char* to, std::size_t bytes) noexcept;

/// `text` with at most `bytes` bytes.
std::string shortened(std::string_view text, std::size_t bytes);

}  // namespace shoal::base

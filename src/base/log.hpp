// SPDX-License-Identifier: Apache-2.0
// Messages to the user: say() for important facts, warn() for probable mistakes, verbose() for details that help to
// find a cause. A call writes one line with one write(2) to standard error, so lines of different threads and processes
// do not mix. A line begins with "shoal: ", or "shoal[3]: " on a thread that knows its node.
// Who may call: any thread, outside hot paths (it allocates for long lines). Never switches tasks, never throws.
// Level and node belong to the calling thread, because one process may have many nodes: a thread of a node must call
// set_log_context() with the node's setting `log` at its start. Without it, say() and warn() print without a number.
// A call below the level costs a load and a compare. Test: tests/unit/base/log_test.cpp.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/setting_table.hpp"

namespace shoal::base {

enum class log_level : int { quiet, warn, say, verbose };

struct log_context {
  log_level level = log_level::say;
  int node = -1;  // -1: print no number
};

/// The calling thread's context.
log_context current_log_context() noexcept;
void set_log_context(log_context context) noexcept;

/// "quiet", "warn", "say" or "verbose", the values of the setting `log`.
log_level log_level_of(std::string_view name) noexcept;

/// Writes prefix, kind ("" or "warning: "), text and a line feed with one write, at any level.
void write_line(std::string_view kind, std::string_view text) noexcept;

/// Formats and writes; if formatting fails it writes the bare format string.
void write_formatted(std::string_view kind, fmt::string_view format, fmt::format_args args) noexcept;

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) noexcept {
  if (current_log_context().level >= log_level::say) write_formatted("", format, fmt::make_format_args(args...));
}

template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) noexcept {
  if (current_log_context().level >= log_level::warn)
    write_formatted("warning: ", format, fmt::make_format_args(args...));
}

template <class... Args>
void verbose(fmt::format_string<Args...> format, Args&&... args) noexcept {
  if (current_log_context().level >= log_level::verbose) write_formatted("", format, fmt::make_format_args(args...));
}

/// The settings of this folder: `log`.
extern const setting_table k_log_settings;

}  // namespace shoal::base

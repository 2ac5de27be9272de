// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <iterator>

#include "base/thread_value.hpp"

namespace shoal::base {
namespace {

constexpr setting k_table[] = {
    {.name = "log",
     .type = setting_type::choice,
     .default_value = "say",
     .help = "how much is told on standard error",
     .choices = "quiet|warn|say|verbose"},
};

thread_local log_context t_context;
const thread_value k_log_context_of_thread(+[]() noexcept { return &t_context; });

using line_buffer = fmt::basic_memory_buffer<char, 512>;

void append(line_buffer& line, std::string_view text) { line.append(text.data(), text.data() + text.size()); }

void append_prefix(line_buffer& line, std::string_view kind) {
  if (t_context.node >= 0) {
    fmt::format_to(std::back_inserter(line), "shoal[{}]: ", t_context.node);
  } else {
    append(line, "shoal: ");
  }
  append(line, kind);
}

// A pipe or a terminal may accept only a part of the line; the rest needs further writes.
void write_all(const char* data, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const ssize_t written = ::write(STDERR_FILENO, data, bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      return;
    }
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

}  // namespace

const setting_table k_log_settings{"base", k_table};

log_context current_log_context() noexcept { return t_context; }

void set_log_context(log_context context) noexcept { t_context = context; }

log_level log_level_of(std::string_view name) noexcept {
  if (name == "quiet") return log_level::quiet;
  if (name == "warn") return log_level::warn;
  if (name == "verbose") return log_level::verbose;
  return log_level::say;
}

void write_line(std::string_view kind, std::string_view text) noexcept {
  const int saved = errno;
  try {
    line_buffer line;
    append_prefix(line, kind);
    append(line, text);
    line.push_back('\n');
    write_all(line.data(), line.size());
  } catch (...) {  // no memory for a long line: write the unformatted text
    write_all(text.data(), text.size());
    write_all("\n", 1);
  }
  errno = saved;
}

void write_formatted(std::string_view kind, fmt::string_view format, fmt::format_args args) noexcept {
  const int saved = errno;
  try {
    line_buffer line;
    append_prefix(line, kind);
    fmt::vformat_to(std::back_inserter(line), format, args);
    line.push_back('\n');
    write_all(line.data(), line.size());
  } catch (...) {
    write_line(kind, {format.data(), format.size()});
  }
  errno = saved;
}

}  // namespace shoal::base

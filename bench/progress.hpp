// SPDX-License-Identifier: Apache-2.0
// A progress line on a terminal; silent if standard error is not a terminal. The line is rewritten in place, at most
// ten times a second, and erased at the end.
// Who may call: one thread, outside tasks and outside measured sections (it writes). Test:
// tests/unit/bench/progress_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::bench {

class progress {
public:
  /// `steps` of 0: no bar, only the text.
  explicit progress(std::size_t steps, bool on_terminal = standard_error_is_terminal());
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Shows the current step; `done` of `steps` are complete.
  void show(std::size_t done, std::string_view what);
  /// Erases the line, so that other output can follow.
  void clear();

  static std::string line(std::size_t done, std::size_t steps, std::string_view what);
  static bool standard_error_is_terminal();

private:
  std::size_t steps_;
  bool on_terminal_;
  bool shown_ = false;
  std::uint64_t last_ns_ = 0;
};

}  // namespace shoal::bench

// SPDX-License-Identifier: Apache-2.0
// What a user has typed, and the answer to it: parses, runs the subcommand, and turns whatever goes wrong into one
// sentence on standard error, with the nearest known name where a name is unknown.
// Exit status: 0 done; 1 a check or a run failed; 2 wrong usage or bad input.
// Who may call: main(), and tests with arguments of their own. Never throws.
// Shown by tests/unit/tools/command_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace shoal::tools {

inline constexpr int k_done = 0;
inline constexpr int k_failed = 1;
inline constexpr int k_wrong_usage = 2;

/// `arguments` without the program's name.
int run_command_line(const std::vector<std::string>& arguments) noexcept;

}  // namespace shoal::tools

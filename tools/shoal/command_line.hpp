// SPDX-License-Identifier: Apache-2.0
// Parses the command line and runs the subcommand. Prints every error as one line on standard error, with the nearest
// known name for an unknown one.
// Output that could not be written is an error, whatever printed it.
// Exit status: 0 success; 1 a check or a run failed; 2 wrong usage or bad input.
// Who may call: main(), and tests. Never throws. Test: tests/unit/tools/command_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace shoal::tools {

inline constexpr int k_done = 0;
inline constexpr int k_failed = 1;
inline constexpr int k_wrong_usage = 2;

/// `arguments`: without the program's name.
int run_command_line(const std::vector<std::string>& arguments) noexcept;

}  // namespace shoal::tools

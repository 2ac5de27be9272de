// SPDX-License-Identifier: Apache-2.0
// What `shoal run --hosts` has the shell of another machine do. What is in the command line there is the same for all
// jobs; the rest, with the job's secret in it, goes through the remote shell's standard input, where no list of
// processes shows it. When that input ends, because the launcher did, the program is killed.
// Who may call: hosts_launch. Never switches tasks. Shown by tests/unit/launch/hosts_launch_test.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace shoal::launch {

/// The remote shell's words, the host, and what that host's login shell, whichever it is, is to run.
std::vector<std::string> remote_command(const std::string& remote_shell, const std::string& host);

struct remote_program {
  std::string host;  // for its messages
  std::string folder;
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<std::string> arguments;
};

/// What goes through standard input.
std::string remote_input(const remote_program& program);

/// For a POSIX shell: one word, whatever is in it.
std::string quoted(const std::string& word);
/// A command of these words; those that a shell takes as they are stay as they are.
std::string shell_words(std::span<const std::string> words);

}  // namespace shoal::launch

// SPDX-License-Identifier: Apache-2.0
// Starts the command that was built and reads what it says. For the tests of tools/.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

namespace shoal::tests {

// The command lies at the root of the build directory, this test somewhere below.
inline std::string command_path() {
  for (auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (std::filesystem::is_regular_file(folder / "shoal")) return (folder / "shoal").string();
  }
  return "";
}

struct answer {
  int status = -1;  // -1 also if a signal ended it
  std::string text;
  bool has(const std::string& part) const { return text.find(part) != std::string::npos; }
};

// Runs a line of the shell.
inline answer run_line(const std::string& line) {
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return {-1, "no pipe"};
  answer result;
  std::array<char, 4096> buffer;
  for (std::size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    result.text.append(buffer.data(), got);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

// Runs `shoal ARGUMENTS`; `redirect` chooses which output is read.
inline answer run_command(const std::string& arguments, const std::string& redirect = "2>&1") {
  const std::string path = command_path();
  if (path.empty()) return {-1, "the command is not built: build the target shoal_command first"};
  return run_line("'" + path + "' " + arguments + " " + redirect);
}

}  // namespace shoal::tests

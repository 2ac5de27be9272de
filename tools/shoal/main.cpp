// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include "tools/shoal/command_line.hpp"

// A program called shoal-NAME is `shoal NAME`: build systems want a compiler in one word.
int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string_view called = argc == 0 ? std::string_view() : argv[0];
  called.remove_prefix(called.rfind('/') + 1);  // npos + 1 is 0
  constexpr std::string_view k_prefix = "shoal-";
  if (called.starts_with(k_prefix)) words.emplace(words.begin(), called.substr(k_prefix.size()));
  return shoal::tools::run_command_line(words);
}

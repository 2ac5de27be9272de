// SPDX-License-Identifier: Apache-2.0
// A subcommand of the command line, or a benchmark of `shoal bench`: name, one line, example, and a function that
// registers its options on a CLI::App and returns the body to run after parsing. The body returns the exit status: 0
// success, 1 a check or a run failed, 2 bad input. It may throw shoal::error, which the command prints as one line on
// standard error. The body captures the options in a shared_ptr, so declaring keeps no other state.
// Who may call: the command's main thread. Tests: tests/unit/bench/limits_test.cpp, tests/unit/tools/command_test.cpp.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace shoal::bench {

using subcommand_body = std::function<int()>;

struct subcommand {
  const char* name;
  const char* summary;
  const char* example;
  subcommand_body (*declare)(CLI::App&);
};

}  // namespace shoal::bench

// SPDX-License-Identifier: Apache-2.0
// A subcommand of the command line, or a benchmark of `shoal bench`: name, one line, example, and a function that
// registers its options on a CLI::App and returns what to do once they are parsed. The returned body gives the exit
// status: 0 done, 1 a check or a run failed, 2 bad input; it may throw shoal::error, which the command turns into one
// sentence on stderr. Options live in a shared_ptr captured by the body, so that declaring has no other state.
// Who may call: the command's main thread.
// Shown by tests/unit/bench/limits_test.cpp and tests/unit/tools/command_test.cpp.
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

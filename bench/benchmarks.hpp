// SPDX-License-Identifier: Apache-2.0
// The table of all benchmarks, for `shoal bench --list` and `shoal bench NAME`. A new benchmark is one file under
// micro/ and one line in benchmarks.cpp. The names are stable.
// Who may call: the command's main thread. Test: tests/unit/bench/limits_test.cpp.
#pragma once

#include <span>

#include "bench/subcommand.hpp"

namespace shoal::bench {

std::span<const subcommand> benchmarks();

}  // namespace shoal::bench

// SPDX-License-Identifier: Apache-2.0
// `shoal bench limits`: the limits of memory and cores, by plain loops without the runtime; the reference for the other
// benchmarks. The loops are in limits/.
// Who may call: the command's main thread. Test: tests/unit/bench/limits_test.cpp.
#pragma once

#include "bench/subcommand.hpp"

namespace shoal::bench {

subcommand_body declare_limits(CLI::App& app);

}  // namespace shoal::bench

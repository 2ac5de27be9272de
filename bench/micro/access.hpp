// SPDX-License-Identifier: Apache-2.0
// `shoal bench access`: element operations on a global array, through the whole runtime. Every run verifies its result
// and fails if it is wrong.
// Who may call: the command's main thread.
#pragma once

#include "bench/subcommand.hpp"

namespace shoal::bench {

subcommand_body declare_access(CLI::App& app);

}  // namespace shoal::bench

// SPDX-License-Identifier: Apache-2.0
// The table of the command's subcommands, and what is needed to offer a table of them on a CLI::App: `shoal` itself
// does so, and so does `shoal bench` with the benchmarks. A new subcommand is one file here and one line in
// subcommands.cpp.
// Who may call: the command's main thread. Shown by tests/unit/tools/command_test.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <utility>
#include <vector>

#include "bench/subcommand.hpp"

namespace shoal::tools {

using bench::subcommand;
using bench::subcommand_body;

std::span<const subcommand> subcommands();

subcommand_body declare_info(CLI::App& app);
subcommand_body declare_bench(CLI::App& app);
subcommand_body declare_bfs(CLI::App& app);
subcommand_body declare_run(CLI::App& app);
subcommand_body declare_mpi_threads(CLI::App& app);

/// Subcommands offered on an app: what to do for each, once the command line is parsed.
using offered = std::vector<std::pair<CLI::App*, subcommand_body>>;

/// Declares each entry of a table on `app`, with its example as the end of its help.
offered offer(CLI::App& app, std::span<const subcommand> table);

/// Runs the one that the command line named; `otherwise` gives the status where it named none.
int run_chosen(const offered& all, const subcommand_body& otherwise);

}  // namespace shoal::tools

// SPDX-License-Identifier: Apache-2.0
// The table of the command's subcommands, and functions that add such a table to a CLI::App. `shoal` and `shoal bench`
// use them. A new subcommand is one file here and one line in subcommands.cpp.
// Who may call: the command's main thread. Test: tests/unit/tools/command_test.cpp.
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
subcommand_body declare_curve(CLI::App& app);
subcommand_body declare_bfs(CLI::App& app);
subcommand_body declare_pagerank(CLI::App& app);
subcommand_body declare_cc(CLI::App& app);
subcommand_body declare_histogram(CLI::App& app);
subcommand_body declare_sssp(CLI::App& app);
subcommand_body declare_tc(CLI::App& app);
subcommand_body declare_uts(CLI::App& app);
subcommand_body declare_walk(CLI::App& app);
subcommand_body declare_hashmap(CLI::App& app);
subcommand_body declare_kmers(CLI::App& app);
subcommand_body declare_gather(CLI::App& app);
subcommand_body declare_randperm(CLI::App& app);
subcommand_body declare_permute(CLI::App& app);
subcommand_body declare_transpose(CLI::App& app);
subcommand_body declare_toposort(CLI::App& app);
subcommand_body declare_sort(CLI::App& app);
subcommand_body declare_fmm(CLI::App& app);
subcommand_body declare_ps(CLI::App& app);
subcommand_body declare_run(CLI::App& app);
subcommand_body declare_mpi_threads(CLI::App& app);
subcommand_body declare_mpirun(CLI::App& app);
subcommand_body declare_noise(CLI::App& app);
subcommand_body declare_sim(CLI::App& app);
subcommand_body declare_trace(CLI::App& app);
subcommand_body declare_tune(CLI::App& app);
subcommand_body declare_mpicc(CLI::App& app);
subcommand_body declare_mpicxx(CLI::App& app);
subcommand_body declare_mpif90(CLI::App& app);

/// The subcommands of an app, each with the function to run if the command line names it.
using offered = std::vector<std::pair<CLI::App*, subcommand_body>>;

/// Declares each entry of a table on `app`; the help of each ends with its example.
offered offer(CLI::App& app, std::span<const subcommand> table);

/// Runs the subcommand that the command line names. If there is none, runs `otherwise` and returns its status.
int run_chosen(const offered& all, const subcommand_body& otherwise);

}  // namespace shoal::tools

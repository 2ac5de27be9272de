// SPDX-License-Identifier: Apache-2.0
// The random matrix that subcommands of kernels work on: its options, its memory, its parameters.
// Who may call: check_matrix_input() and add_matrix_input(): the main thread; describe_matrix(): the job's main task.
// Shown by tests/unit/tools/kernels_test.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

#include "bench/report.hpp"
#include "tools/shoal/kernel_command.hpp"

namespace shoal::tools {

struct matrix_input {
  std::uint64_t rows = 1'000'000;
  std::uint64_t per_row = 10;

  std::uint64_t entries() const noexcept { return rows * per_row; }
};

/// --rows, --per-row
inline void add_matrix_input(CLI::App& app, matrix_input& input) {
  app.add_option("--rows", input.rows, "number of rows, and of columns")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{0xffffffff}))
      ->capture_default_str();
  app.add_option("--per-row", input.per_row, "average number of entries in a row")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))
      ->capture_default_str();
}

/// Throws shoal::error if the matrix, `copies` times, does not fit into memory.
inline void check_matrix_input(const matrix_input& input, const kernel_options& options, std::uint64_t copies) {
  constexpr std::uint64_t k_row_bytes = 32;
  constexpr std::uint64_t k_entry_bytes = 8;
  require_kernel_memory(options, copies * (input.rows * k_row_bytes + input.entries() * k_entry_bytes), "the matrix");
}

inline void describe_matrix(bench::report& r, const matrix_input& input, std::uint64_t entries) {
  r.parameter("rows", input.rows);
  r.parameter("per_row", input.per_row);
  r.parameter("entries", entries);
}

}  // namespace shoal::tools

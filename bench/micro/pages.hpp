// SPDX-License-Identifier: Apache-2.0
// `shoal bench pages`: what the size of pages costs or gains here: one access after the other (chase), independent random
// updates, and a stream, over tables of growing size, on ordinary and on 2 MiB pages, measured in turn.
// Test: tests/unit/bench/pages_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/subcommand.hpp"

namespace shoal::bench {

subcommand_body declare_pages(CLI::App& app);

/// Makes the words of `table` one cycle through all cache lines in a random order: each names the next one's index.
void make_cycle(std::span<std::uint64_t> table, std::uint64_t seed);
/// Follows the cycle; where it ends.
std::uint64_t follow(std::span<const std::uint64_t> table, std::uint64_t from, std::uint64_t steps) noexcept;
/// Adds 1 to random words; how many are added is `updates`.
void update_at_random(std::span<std::uint64_t> table, std::uint64_t updates, std::uint64_t seed) noexcept;
std::uint64_t sum_of(std::span<const std::uint64_t> table) noexcept;

struct page_row {
  std::size_t bytes = 0;
  double chase_ns[2] = {};  // of an access: on ordinary, on 2 MiB pages
  double update_ns[2] = {};
  double stream_gbs[2] = {};
  double huge_share = 0;  // of the table on 2 MiB pages, that were given
};
std::string pages_picture(const std::vector<page_row>& rows);

}  // namespace shoal::bench

// SPDX-License-Identifier: Apache-2.0
// `shoal bench pages`: what the size of pages costs or gains here, over tables of growing size, measured in turn: loops
// without the runtime (one access after the other, independent random updates, a stream) and kernels on global arrays
// (gather, histogram, randperm) on one worker. With misses of the TLB where the processor counts them.
// Test: tests/unit/bench/pages_test.cpp, tests/unit/tools/command_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/subcommand.hpp"
#include "machine/huge_buffer.hpp"
#include "machine/page_choice.hpp"

namespace shoal::bench {

subcommand_body declare_pages(CLI::App& app);

/// Makes the words of `table` one cycle through all cache lines in a random order: each names the next one's index.
void make_cycle(std::span<std::uint64_t> table, std::uint64_t seed);
/// Follows the cycle; where it ends.
std::uint64_t follow(std::span<const std::uint64_t> table, std::uint64_t from, std::uint64_t steps) noexcept;
/// Adds 1 to random words; how many are added is `updates`.
void update_at_random(std::span<std::uint64_t> table, std::uint64_t updates, std::uint64_t seed) noexcept;
std::uint64_t sum_of(std::span<const std::uint64_t> table) noexcept;

/// The sizes of pages that are compared: 4k, 2m, 1g. Ordinary pages are the first.
inline constexpr std::array<machine::page_choice, 3> k_page_sizes = {
    machine::page_choice::small, machine::page_choice::huge, machine::page_choice::giant};

struct page_workload {
  const char* name;        // of the metrics
  const char* title;       // of its table, with the unit
  const char* in_picture;  // for people
  const char* colour;
  const char* unit;
  bool more_is_better;
};
inline constexpr std::array<page_workload, 6> k_page_workloads = {
    {{"ns_per_access", "one access after the other, ns", "one after the other", "#4477aa", "ns", false},
     {"ns_per_update", "random updates, ns", "random updates", "#ee6677", "ns", false},
     {"stream", "stream, GB/s", "stream", "#228833", "GB/s", true},
     {"gather", "kernel gather, ns per read", "gather", "#ccbb44", "ns", false},
     {"histogram", "kernel histogram, ns per update", "histogram", "#66ccee", "ns", false},
     {"randperm", "kernel randperm --form simple, ns per number", "randperm", "#aa3377", "ns", false}}};
inline constexpr std::size_t k_page_loops = 3;  // of the workloads; the others are kernels

/// What one measurement gave.
struct page_sample {
  double value = 0;
  std::optional<double> misses;  // of the TLB, per access; empty: no counter
  double given = 0;              // the share of the memory on pages of the size, or of 2 MiB or more for 4k
  bool right = true;             // the result is what it must be
};
/// The loops, on a table of `bytes` on these pages.
class page_loops {
public:
  page_loops(std::size_t bytes, machine::page_choice pages);
  /// Workload `w`, for about `seconds`.
  page_sample run(std::size_t w, double seconds) const;

private:
  // Of large pages there may be more than the table takes.
  std::span<std::uint64_t> words() const { return memory_.as<std::uint64_t>().first(bytes_ / sizeof(std::uint64_t)); }
  page_sample chase(double seconds) const;
  page_sample update(double seconds) const;
  page_sample stream(double seconds) const;

  machine::huge_buffer memory_;
  std::size_t bytes_;
};
/// The kernels, in a job of one worker in this process.
std::array<page_sample, k_page_workloads.size() - k_page_loops> run_page_kernels(std::size_t bytes,
                                                                                 machine::page_choice pages,
                                                                                 double seconds);
/// Seconds of work(n), and n, so large that it takes `seconds` / 2 or more.
std::pair<double, std::uint64_t> time_growing(double seconds, std::uint64_t first,
                                              const std::function<void(std::uint64_t)>& work);

/// Medians of a workload with a table of one size.
struct page_cell {
  double value = 0;  // 0: not measured
  std::optional<double> misses;
  double given = 0;
};
struct page_row {
  std::size_t bytes = 0;
  std::array<std::array<page_cell, k_page_sizes.size()>, k_page_workloads.size()> cells;
};
/// How much slower the workload is on ordinary pages than on those of size `k`; 0: not measured.
double slowdown(const page_row& row, std::size_t workload, std::size_t k);
std::string pages_table(const std::vector<page_row>& rows);
/// The ratios to 2 MiB pages.
std::string pages_picture(const std::vector<page_row>& rows);

}  // namespace shoal::bench

// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/clock.hpp"
#include "bench/micro/pages.hpp"
#include "kernels/gather/gather.hpp"
#include "kernels/histogram/histogram.hpp"
#include "kernels/randperm/randperm.hpp"
#include "kernels/reference/permutation.hpp"
#include "machine/hardware_counter.hpp"
#include "runtime/job.hpp"

namespace shoal::bench {
namespace {

using namespace kernels;

constexpr std::uint64_t k_indices = std::uint64_t{1} << 18;
constexpr std::uint64_t k_seed = 1;

double share_of(const memory_report& got) {
  return got.asked_bytes == 0 ? 0 : static_cast<double>(got.huge_bytes) / static_cast<double>(got.asked_bytes);
}

// Rounds of `round` over all indices. The job's only worker is this thread, so its counter has all misses.
page_sample rounds_of(double seconds, std::uint64_t items, std::uint64_t& rounds, const std::function<void()>& round) {
  page_sample s;
  std::uint64_t before = 0;
  const auto misses = machine::hardware_counter::of_tlb_misses();
  const auto [passed, n] = time_growing(seconds, 1, [&](std::uint64_t more) {
    before = misses.count().value_or(0);
    for (std::uint64_t i = 0; i < more; ++i) round();
    rounds += more;
  });
  const double all = static_cast<double>(n) * static_cast<double>(items);
  if (const auto after = misses.count()) s.misses = static_cast<double>(*after - before) / all;
  s.value = passed * 1e9 / all;
  return s;
}

page_sample run_gather(std::uint64_t words, double seconds) {
  const global_array<std::uint64_t> table(words);
  const global_array<std::uint64_t> indices(k_indices);
  const global_array<std::uint64_t> values(k_indices);
  gather::fill_table(table);
  random_indices::fill(indices, words, k_seed);
  std::uint64_t rounds = 0;
  page_sample s = rounds_of(seconds, k_indices, rounds, [&] { gather::fast(table, indices, values); });
  s.right = gather::count_wrong(values, words, k_seed) == 0;
  s.given = share_of(table.memory());
  return s;
}

page_sample run_histogram(std::uint64_t words, double seconds) {
  const global_array<std::uint64_t> counts(words);
  const global_array<std::uint64_t> indices(k_indices);
  random_indices::fill(indices, words, k_seed);
  std::uint64_t rounds = 0;
  page_sample s = rounds_of(seconds, k_indices, rounds, [&] { histogram::fast(counts, indices); });
  s.right = histogram::is_right(counts, k_indices, k_seed, rounds);
  s.given = share_of(counts.memory());
  return s;
}

// The table is the board, of two slots for a number, which the kernel makes.
page_sample run_randperm(std::uint64_t words, double seconds) {
  const global_array<std::uint64_t> result(words / 2);
  std::uint64_t rounds = 0;
  page_sample s = rounds_of(seconds, words / 2, rounds, [&] { randperm::simple(result, k_seed + rounds); });
  s.right = reference::is_permutation(result.ref());
  s.given = share_of(result.memory());
  return s;
}

}  // namespace

std::array<page_sample, k_page_workloads.size() - k_page_loops> run_page_kernels(std::size_t bytes,
                                                                                 machine::page_choice pages,
                                                                                 double seconds) {
  auto settings = runtime::all_settings();
  // Where the system has given fewer pages of 2 MiB the table says so; of the pool there are all or none.
  settings.set("pages", to_string(pages == machine::page_choice::huge ? machine::page_choice::huge_try : pages));
  settings.set("workers", "1");
  settings.set("nodes", "1");
  settings.check();
  std::array<page_sample, k_page_workloads.size() - k_page_loops> samples;
  runtime::run_in_process(runtime::read_config(settings), [&] {
    const std::uint64_t words = bytes / sizeof(std::uint64_t);
    samples = {run_gather(words, seconds), run_histogram(words, seconds), run_randperm(words, seconds)};
    return 0;
  });
  return samples;
}

}  // namespace shoal::bench

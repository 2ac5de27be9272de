// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/clock.hpp"
#include "bench/micro/pages.hpp"
#include "machine/hardware_counter.hpp"
#include "machine/huge_buffer.hpp"
#include "shoal/random.hpp"

namespace shoal::bench {
namespace {

constexpr std::size_t k_words_of_line = 8;

// Of an explicit size, or an error: no measurement is of other pages than its name says.
machine::huge_buffer memory_on(std::size_t bytes, machine::page_choice pages) {
  const machine::page_plan plan = machine::plan_pages(
      pages, pages == machine::page_choice::small ? machine::page_facts{} : machine::private_page_facts(), "a table");
  return plan.pool_page_bytes != 0 ? machine::huge_buffer::of_pool(bytes, plan.pool_page_bytes)
                                   : machine::huge_buffer(bytes, plan.pages);
}

// `work` as time_growing(); its sample without a value. `accesses`: in one step of n.
page_sample counted_loop(double seconds, double accesses, const std::function<void(std::uint64_t)>& work,
                         double& ns_per_step) {
  page_sample s;
  std::uint64_t before = 0;
  const auto misses = machine::hardware_counter::of_tlb_misses();
  const auto [passed, n] = time_growing(seconds, 10'000, [&](std::uint64_t steps) {
    before = misses.count().value_or(0);
    work(steps);
  });
  if (const auto after = misses.count())
    s.misses = static_cast<double>(*after - before) / (static_cast<double>(n) * accesses);
  ns_per_step = passed * 1e9 / static_cast<double>(n);
  return s;
}

}  // namespace

std::pair<double, std::uint64_t> time_growing(double seconds, std::uint64_t first,
                                              const std::function<void(std::uint64_t)>& work) {
  for (std::uint64_t n = first;; n *= 4) {
    const std::uint64_t begin = base::now_ns();
    work(n);
    const double passed = static_cast<double>(base::now_ns() - begin) * 1e-9;
    if (passed >= seconds / 2) return {passed, n};
  }
}

page_loops::page_loops(std::size_t bytes, machine::page_choice pages)
    : memory_(memory_on(bytes, pages)), bytes_(bytes) {}

page_sample page_loops::run(std::size_t w, double seconds) const {
  page_sample s = w == 0 ? chase(seconds) : w == 1 ? update(seconds) : stream(seconds);
  s.given = static_cast<double>(memory_.huge_bytes()) / static_cast<double>(memory_.size());
  return s;
}

page_sample page_loops::chase(double seconds) const {
  make_cycle(words(), 1);
  std::uint64_t at = 0;
  double ns = 0;
  page_sample s = counted_loop(
      seconds, 1, [&](std::uint64_t steps) { at = follow(words(), at, steps); }, ns);
  s.value = ns;
  s.right = at % k_words_of_line == 0 && at < words().size();
  return s;
}

page_sample page_loops::update(double seconds) const {
  std::ranges::fill(words(), std::uint64_t{0});
  std::uint64_t all = 0;
  double ns = 0;
  const auto work = [&](std::uint64_t updates) {
    update_at_random(words(), updates, all + 1);
    all += updates;
  };
  page_sample s = counted_loop(seconds, 1, work, ns);
  s.value = ns;
  s.right = sum_of(words()) == all;
  return s;
}

page_sample page_loops::stream(double seconds) const {
  constexpr std::uint64_t k_of_a_round = 10'000;  // a whole table is a longer step than an access
  std::ranges::fill(words(), std::uint64_t{3});
  std::uint64_t sum = 0;
  double ns = 0;
  const auto work = [&](std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps / k_of_a_round; ++i) sum = sum_of(words());
  };
  const double count = static_cast<double>(words().size());
  page_sample s = counted_loop(seconds, count / static_cast<double>(k_of_a_round), work, ns);
  s.value = count * sizeof(std::uint64_t) / (ns * static_cast<double>(k_of_a_round));
  s.right = sum == 3 * words().size();
  return s;
}

void make_cycle(std::span<std::uint64_t> table, std::uint64_t seed) {
  const std::size_t lines = table.size() / k_words_of_line;
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  xoshiro256ss random(seed);
  for (std::size_t i = lines; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (std::size_t i = 0; i < lines; ++i)
    table[order[i] * k_words_of_line] = std::uint64_t{order[(i + 1) % lines]} * k_words_of_line;
}

std::uint64_t follow(std::span<const std::uint64_t> table, std::uint64_t from, std::uint64_t steps) noexcept {
  for (std::uint64_t i = 0; i < steps; ++i) from = table[from];
  return from;
}

void update_at_random(std::span<std::uint64_t> table, std::uint64_t updates, std::uint64_t seed) noexcept {
  __extension__ using wide = unsigned __int128;
  std::uint64_t state = mix64(seed);
  for (std::uint64_t i = 0; i < updates; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    table[static_cast<std::size_t>((static_cast<wide>(state) * table.size()) >> 64)] += 1;
  }
}

std::uint64_t sum_of(std::span<const std::uint64_t> table) noexcept {
  std::uint64_t sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= table.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) sums[k] += table[i + k];
  for (; i < table.size(); ++i) sums[0] += table[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

}  // namespace shoal::bench

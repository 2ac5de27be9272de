// SPDX-License-Identifier: Apache-2.0
#include "machine/page_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <shoal/error.hpp>

#include "machine/reserved_range.hpp"
#include "machine/segment.hpp"

namespace shoal::machine {
namespace {

constexpr std::array<std::string_view, 4> k_choice_words = {"4k", "2m", "1g", "huge-try"};

std::uint64_t number_in(const std::string& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  in >> number;
  return number;
}

std::string pages_of(std::size_t bytes) { return bytes == k_giant_page_bytes ? "1 GiB pages" : "2 MiB pages"; }

std::string why_not_pool(const page_pool& pool, std::size_t bytes) {
  if (pool.pages != 0) return fmt::format("all {} pages of the pool are in use", pool.pages);
  return fmt::format(
      "the pool has none (as root, write how many to /sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages)",
      bytes >> 10);
}

}  // namespace

page_choice page_choice_of(std::string_view word) {
  const auto* const found = std::ranges::find(k_choice_words, word);
  if (found == k_choice_words.end())
    throw error(errc::invalid_argument,
                fmt::format("'{}' is no choice of pages; give one of {}", word, k_page_choices));
  return static_cast<page_choice>(found - k_choice_words.begin());
}

std::string_view to_string(page_choice choice) noexcept { return k_choice_words[static_cast<std::size_t>(choice)]; }

page_pool read_page_pool(std::size_t page_bytes, const std::string& folder) {
  const std::string at = fmt::format("{}/hugepages-{}kB/", folder, page_bytes >> 10);
  const std::uint64_t free = number_in(at + "free_hugepages");
  return {number_in(at + "nr_hugepages"), free - std::min(free, number_in(at + "resv_hugepages"))};
}

page_facts shared_page_facts() {
  page_facts facts{.why_not_transparent = {},
                   .huge = read_page_pool(k_huge_page_bytes),
                   .giant = read_page_pool(k_giant_page_bytes)};
  segment probe = segment::create("shoal-probe", k_huge_page_bytes);
  probe.map();
  facts.why_not_transparent = probe.commit(0, k_huge_page_bytes, page_kind::huge).reason;
  return facts;
}

page_facts private_page_facts() {
  constexpr const char* k_mode_file = "/sys/kernel/mm/transparent_hugepage/enabled";
  std::ifstream in(k_mode_file);
  std::string mode;
  std::getline(in, mode);
  page_facts facts{.why_not_transparent = {},
                   .huge = read_page_pool(k_huge_page_bytes),
                   .giant = read_page_pool(k_giant_page_bytes)};
  if (!follows_advice()) facts.why_not_transparent = "this system ignores what programs advise about memory";
  if (mode.empty()) facts.why_not_transparent = "this kernel makes no 2 MiB pages of private memory";
  if (mode.find("[never]") != std::string::npos)
    facts.why_not_transparent =
        fmt::format("2 MiB pages of private memory are switched off (write madvise to {}, as root)", k_mode_file);
  return facts;
}

page_plan plan_pages(page_choice choice, const page_facts& facts, std::string_view what) {
  const bool transparent = facts.why_not_transparent.empty();
  switch (choice) {
    case page_choice::small: return {};
    case page_choice::huge_try: return {transparent ? page_kind::huge : page_kind::small, 0, facts.why_not_transparent};
    case page_choice::huge:
      if (transparent) return {page_kind::huge, 0, {}};
      if (facts.huge.free_pages != 0) return {page_kind::huge, k_huge_page_bytes, {}};
      throw error(errc::unsupported,
                  fmt::format("{} cannot be on 2 MiB pages: {}, and {}; huge-try goes on without them", what,
                              facts.why_not_transparent, why_not_pool(facts.huge, k_huge_page_bytes)));
    case page_choice::giant: break;
  }
  if (facts.giant.free_pages != 0) return {page_kind::huge, k_giant_page_bytes, {}};
  throw error(errc::unsupported, fmt::format("{} cannot be on 1 GiB pages: {}; huge-try goes on without them", what,
                                             why_not_pool(facts.giant, k_giant_page_bytes)));
}

std::string describe(const page_plan& plan) {
  if (plan.pool_page_bytes != 0) return pages_of(plan.pool_page_bytes) + " of the pool";
  if (plan.pages == page_kind::huge) return pages_of(k_huge_page_bytes) + " made by the kernel";
  return fmt::format("{} pages{}{}", describe_bytes(page_size()), plan.reason.empty() ? "" : ": ", plan.reason);
}

}  // namespace shoal::machine

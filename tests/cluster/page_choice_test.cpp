// SPDX-License-Identifier: Apache-2.0
// The settings pages and stack_pages in jobs: what was given is what was asked for, or the job or the array is refused.
#include "machine/page_choice.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "shoal/memory_use.hpp"
#include "tests/cluster/cluster.hpp"

namespace {

using shoal::array_pages;
using shoal::error;
using shoal::global_array;
using shoal::memory_usage;
using shoal::machine::page_choice;

constexpr std::uint64_t k_part_bytes = std::uint64_t{8} << 20;

struct given {
  shoal::memory_report as_set, small, huge;
  memory_usage use;
};

class page_choices : public shoal::test::cluster {
protected:
  // What jobs get, or the error that refuses them.
  std::optional<given> run_with(page_choice pages, page_choice stacks, std::string& refusal) const {
    given got;
    auto c = config();
    c.pages = pages;
    c.stack_pages = stacks;
    try {
      shoal::runtime::run_in_process(c, [&] {
        const std::uint64_t size = nodes() * k_part_bytes / 8;
        const global_array<std::uint64_t> as_set(size);
        const global_array<std::uint64_t> small(size, {.pages = array_pages::small});
        const global_array<std::uint64_t> huge(size, {.pages = array_pages::huge});
        got.as_set = as_set.memory();
        got.small = small.memory();
        got.huge = huge.memory();
        shoal::latch all(500);
        shoal::task_group waiting;
        for (int i = 0; i < 500; ++i) waiting.run([&all] { all.arrive_and_wait(); });
        waiting.wait();
        got.use = shoal::memory_use();
        as_set->fill(3);
        EXPECT_EQ(as_set->get(size - 1), 3U);
        return 0;
      });
    } catch (const error& e) {
      refusal = e.what();
      return std::nullopt;
    }
    return got;
  }
};
INSTANTIATE_TEST_SUITE_P(shapes, page_choices,
                         testing::Values(shoal::test::job_shape{1, 2, true}, shoal::test::job_shape{2, 2, false}),
                         shoal::test::name_of);

TEST_P(page_choices, small_pages_are_small_unless_an_array_asks_for_more) {
  std::string refusal;
  const auto got = run_with(page_choice::small, page_choice::small, refusal);
  ASSERT_TRUE(got) << refusal;
  EXPECT_EQ(got->as_set.huge_bytes, 0U);
  EXPECT_EQ(got->as_set.page_bytes, shoal::machine::page_size());
  EXPECT_EQ(got->as_set.reason, "small pages were asked for");
  EXPECT_EQ(got->use.array_huge_bytes, got->huge.huge_bytes);
  EXPECT_EQ(got->use.stack_huge_bytes, 0U);
}

TEST_P(page_choices, huge_try_gives_what_there_is_and_says_why_it_is_less) {
  std::string refusal;
  const auto got = run_with(page_choice::huge_try, page_choice::huge_try, refusal);
  ASSERT_TRUE(got) << refusal;
  EXPECT_EQ(got->small.huge_bytes, 0U);
  EXPECT_EQ(got->as_set.huge_bytes == got->as_set.asked_bytes, got->as_set.reason.empty()) << got->as_set.reason;
  EXPECT_EQ(got->use.array_huge_bytes, got->as_set.huge_bytes + got->huge.huge_bytes);
  EXPECT_GE(got->use.stack_resident_bytes, got->use.stack_huge_bytes);
  if (shoal::machine::private_page_facts().why_not_transparent.empty()) {
    EXPECT_GT(got->use.stack_huge_bytes, 0U);
    EXPECT_EQ(describe(got->use).find("0 B on pages of 2 MiB or more", describe(got->use).find("stacks")),
              std::string::npos);
  }
}

TEST_P(page_choices, two_megabytes_are_given_or_refused) {
  std::string refusal;
  if (const auto got = run_with(page_choice::huge, page_choice::huge, refusal)) {
    EXPECT_EQ(got->as_set.huge_bytes, got->as_set.asked_bytes);
    EXPECT_EQ(got->as_set.page_bytes, shoal::machine::k_huge_page_bytes);
    EXPECT_EQ(got->as_set.reason, "");
  } else {
    EXPECT_NE(refusal.find("huge-try"), std::string::npos) << refusal;
  }
}

TEST_P(page_choices, a_gigabyte_is_given_of_the_pool_or_refused) {
  std::string refusal;
  const std::uint64_t before = shoal::machine::read_page_pool(shoal::machine::k_giant_page_bytes).free_pages;
  const auto got = run_with(page_choice::giant, page_choice::small, refusal);
  EXPECT_EQ(got.has_value(), before >= nodes()) << refusal;
  if (got) {
    EXPECT_EQ(got->as_set.huge_bytes, got->as_set.asked_bytes);
    EXPECT_EQ(got->as_set.page_bytes, shoal::machine::k_giant_page_bytes);
    EXPECT_NE(got->small.reason, "");
  } else {
    EXPECT_NE(refusal.find("1 GiB"), std::string::npos) << refusal;
  }
  EXPECT_EQ(shoal::machine::read_page_pool(shoal::machine::k_giant_page_bytes).free_pages, before);
}

TEST_P(page_choices, stacks_on_pages_of_an_empty_pool_are_refused) {
  if (shoal::machine::read_page_pool(shoal::machine::k_giant_page_bytes).free_pages != 0)
    GTEST_SKIP() << "there are such pages";
  std::string refusal;
  EXPECT_FALSE(run_with(page_choice::huge_try, page_choice::giant, refusal));
  EXPECT_NE(refusal.find("stack_pages"), std::string::npos) << refusal;
}

}  // namespace

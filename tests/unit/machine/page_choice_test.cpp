// SPDX-License-Identifier: Apache-2.0
#include "machine/page_choice.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <shoal/error.hpp>

#include "machine/huge_buffer.hpp"
#include "machine/reserved_range.hpp"

namespace shoal::machine {
namespace {

page_facts facts_of(std::string why_not_transparent, page_pool huge, page_pool giant) {
  return {std::move(why_not_transparent), huge, giant};
}

std::string refusal_of(page_choice choice, const page_facts& facts) {
  try {
    static_cast<void>(plan_pages(choice, facts, "a table"));
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    return e.what();
  }
  return "";
}

TEST(page_choice, words_are_those_of_the_settings) {
  EXPECT_EQ(page_choice_of("4k"), page_choice::small);
  EXPECT_EQ(page_choice_of("2m"), page_choice::huge);
  EXPECT_EQ(page_choice_of("1g"), page_choice::giant);
  EXPECT_EQ(page_choice_of("huge-try"), page_choice::huge_try);
  std::string all;
  for (const auto choice : {page_choice::small, page_choice::huge, page_choice::giant, page_choice::huge_try}) {
    EXPECT_EQ(page_choice_of(to_string(choice)), choice);
    all += (all.empty() ? "" : "|") + std::string(to_string(choice));
  }
  EXPECT_EQ(all, k_page_choices);
  EXPECT_THROW(page_choice_of("2M"), error);
  EXPECT_THROW(page_choice_of(""), error);
}

TEST(page_choice, small_pages_are_small_whatever_there_is) {
  const page_plan plan = plan_pages(page_choice::small, facts_of("", {8, 8}, {2, 2}), "a table");
  EXPECT_FALSE(plan.large());
  EXPECT_EQ(plan.reason, "");
}

TEST(page_choice, huge_try_falls_back_to_small_pages_and_says_why) {
  const page_plan got = plan_pages(page_choice::huge_try, facts_of("", {0, 0}, {0, 0}), "a table");
  EXPECT_EQ(got.pages, page_kind::huge);
  EXPECT_EQ(got.pool_page_bytes, 0U);
  EXPECT_EQ(got.reason, "");
  const page_plan without = plan_pages(page_choice::huge_try, facts_of("switched off", {8, 8}, {2, 2}), "a table");
  EXPECT_FALSE(without.large());
  EXPECT_EQ(without.reason, "switched off");
  EXPECT_NE(describe(without).find("switched off"), std::string::npos);
}

TEST(page_choice, two_megabytes_come_from_the_kernel_or_the_pool_or_not_at_all) {
  const page_plan made = plan_pages(page_choice::huge, facts_of("", {8, 8}, {2, 2}), "a table");
  EXPECT_EQ(made.pages, page_kind::huge);
  EXPECT_EQ(made.pool_page_bytes, 0U);
  const page_plan pooled = plan_pages(page_choice::huge, facts_of("switched off", {8, 1}, {0, 0}), "a table");
  EXPECT_EQ(pooled.pool_page_bytes, k_huge_page_bytes);
  EXPECT_TRUE(pooled.large());
  const std::string said = refusal_of(page_choice::huge, facts_of("switched off", {8, 0}, {2, 2}));
  EXPECT_NE(said.find("a table cannot be on 2 MiB pages: switched off"), std::string::npos) << said;
  EXPECT_NE(said.find("all 8 pages of the pool are in use"), std::string::npos) << said;
  EXPECT_NE(said.find("huge-try"), std::string::npos) << said;
}

TEST(page_choice, a_gigabyte_comes_from_the_pool_alone) {
  const page_plan got = plan_pages(page_choice::giant, facts_of("switched off", {0, 0}, {2, 1}), "a table");
  EXPECT_EQ(got.pool_page_bytes, k_giant_page_bytes);
  EXPECT_EQ(describe(got), "1 GiB pages of the pool");
  const std::string none = refusal_of(page_choice::giant, facts_of("", {8, 8}, {0, 0}));
  EXPECT_NE(none.find("hugepages-1048576kB/nr_hugepages"), std::string::npos) << none;
  const std::string used = refusal_of(page_choice::giant, facts_of("", {8, 8}, {3, 0}));
  EXPECT_NE(used.find("all 3 pages of the pool are in use"), std::string::npos) << used;
}

TEST(page_choice, the_pool_is_what_is_free_and_not_promised) {
  namespace files = std::filesystem;
  const files::path folder = files::temp_directory_path() / ("shoal-pools-" + std::to_string(::getpid()));
  files::create_directories(folder / "hugepages-2048kB");
  const auto write = [&](const char* name, int number) {
    std::ofstream(folder / "hugepages-2048kB" / name) << number << '\n';
  };
  write("nr_hugepages", 10);
  write("free_hugepages", 7);
  write("resv_hugepages", 3);
  EXPECT_EQ(read_page_pool(k_huge_page_bytes, folder.string()).pages, 10U);
  EXPECT_EQ(read_page_pool(k_huge_page_bytes, folder.string()).free_pages, 4U);
  write("resv_hugepages", 9);
  EXPECT_EQ(read_page_pool(k_huge_page_bytes, folder.string()).free_pages, 0U);
  EXPECT_EQ(read_page_pool(k_giant_page_bytes, folder.string()).pages, 0U);  // a machine without such pages
  files::remove_all(folder);
}

TEST(page_choice, this_machine_is_asked) {
  const page_facts shared = shared_page_facts();
  const page_facts own = private_page_facts();
  EXPECT_LE(shared.huge.free_pages, shared.huge.pages);
  EXPECT_EQ(shared.giant.pages, own.giant.pages);
  if (!own.why_not_transparent.empty()) return;
  const huge_buffer buffer(std::size_t{8} << 20);
  EXPECT_GT(buffer.huge_bytes(), 0U);
}

TEST(page_choice, more_than_the_pool_has_is_refused_with_its_figures) {
  const page_pool pool = read_page_pool(k_huge_page_bytes);
  const std::size_t bytes = (pool.free_pages + 1) * k_huge_page_bytes;
  try {
    static_cast<void>(huge_buffer::of_pool(bytes, k_huge_page_bytes));
    FAIL() << "there are not so many";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("are reserved"), std::string::npos) << e.what();
  }
  EXPECT_EQ(read_page_pool(k_huge_page_bytes).free_pages, pool.free_pages);
  EXPECT_THROW(reserved_range::of_pool(bytes, k_huge_page_bytes), error);
}

// Runs where such pages are reserved, for instance by `echo 4 > /proc/sys/vm/nr_hugepages`.
TEST(page_choice, memory_of_the_pool_is_there_and_counted) {
  if (read_page_pool(k_huge_page_bytes).free_pages < 2) GTEST_SKIP() << "no 2 MiB pages are reserved";
  const huge_buffer buffer = huge_buffer::of_pool(1, k_huge_page_bytes);
  EXPECT_EQ(buffer.size(), k_huge_page_bytes);
  EXPECT_EQ(buffer.huge_bytes(), k_huge_page_bytes);
  reserved_range range = reserved_range::of_pool(k_huge_page_bytes, k_huge_page_bytes);
  range.commit(0, range.size());
  range.data()[5] = std::byte{1};
  EXPECT_EQ(range.data()[5], std::byte{1});
}

}  // namespace
}  // namespace shoal::machine

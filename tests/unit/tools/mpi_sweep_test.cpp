// SPDX-License-Identifier: Apache-2.0
// How many ranks a process has, and what a sweep over this number says.
#include "tools/shoal/mpi_sweep.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shoal/error.hpp"

namespace {

using namespace shoal::tools;

TEST(nfg, is_a_number_or_several_or_automatic) {
  EXPECT_EQ(read_ranks("4"), (std::vector<unsigned>{4}));
  EXPECT_EQ(read_ranks("1,2,100000"), (std::vector<unsigned>{1, 2, 100'000}));
  EXPECT_TRUE(read_ranks("auto").empty());
  for (const char* wrong : {"", "0", "4,", ",4", "4x", "-1", "100001", "automatic", "1,,2", "1 2"})
    EXPECT_THROW(read_ranks(wrong), shoal::error) << wrong;
}

TEST(automatic_nfg, is_four_per_worker_unless_something_is_scarce) {
  ranks_limits l;
  EXPECT_EQ(automatic_ranks(l), 4);
  l.workers = 3;
  EXPECT_EQ(automatic_ranks(l), 8);  // a power of two
  l.memory_bytes = std::uint64_t{1} << 30;
  l.copy_bytes = std::uint64_t{60} << 20;
  EXPECT_EQ(automatic_ranks(l), 4);
  l.processes = 2;
  EXPECT_EQ(automatic_ranks(l), 2);
  l.copy_bytes = std::uint64_t{1} << 40;
  EXPECT_EQ(automatic_ranks(l), 1);
  l = {.workers = 1000, .mappings = 65'530, .copy_mappings = 20};
  EXPECT_EQ(automatic_ranks(l), 1024);
}

TEST(nfg, is_refused_where_a_process_may_not_have_the_mappings) {
  ranks_limits l{.mappings = 65'530, .copy_mappings = 5};
  EXPECT_NO_THROW(check_ranks(13'000, l));
  try {
    check_ranks(100'000, l);
    FAIL();
  } catch (const shoal::error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("--nfg 100000: so many copies of the program take 500000 mappings"), std::string::npos) << text;
    EXPECT_NE(text.find("at most some 13066 ranks"), std::string::npos) << text;
  }
  l.copy_mappings = 0;  // --shared-globals
  EXPECT_NO_THROW(check_ranks(100'000, l));
  EXPECT_NO_THROW(check_ranks(100'000, {.copy_mappings = 5}));  // nobody knows the limit
}

sweep_result example() {
  return {2, {"./prog", "a \"b\""}, {{1, 0, {4, 3, 5}}, {2, 0, {2}}, {4, 0, {2.5, 2.25}}, {8, 3, {0.5}}}};
}

TEST(a_sweep, is_a_table_with_the_fastest_marked) {
  const std::string table = sweep_table(example());
  EXPECT_NE(table.find("\n     2        4      2.000      2.000      1 ========================== fastest\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("\n     1        2      3.000      4.000      3 ========"), std::string::npos) << table;
  EXPECT_NE(table.find("failed with status 3"), std::string::npos) << table;
}

// Behind 2.000 s are 2.015 s, which may be noise, and 2.1 s, which is not.
TEST(a_sweep, has_one_fastest_run_and_says_which_may_be_as_fast) {
  const std::string table = sweep_table({1, {"./prog"}, {{1, 0, {2.1}}, {2, 0, {2}}, {4, 0, {2.015}}, {8, 0, {2}}}});
  EXPECT_EQ(table.find(" fastest\n"), table.rfind(" fastest\n")) << table;
  EXPECT_NE(table.find("2.000      2.000      1 ====================================== fastest\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find("2.015      2.015      1 ====================================== as fast, perhaps\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("2.100      2.100      1 ========================================\n"), std::string::npos)
      << table;
}

TEST(a_sweep, is_json_and_a_picture) {
  const auto read = nlohmann::json::parse(sweep_json(example()));
  EXPECT_EQ(read["program"][1], "a \"b\"");
  EXPECT_EQ(read["runs"][2]["ranks"], 8);
  EXPECT_DOUBLE_EQ(read["runs"][0]["least_seconds"], 3);
  EXPECT_EQ(read["runs"][3]["status"], 3);
  const std::string picture = sweep_picture(example());
  EXPECT_TRUE(picture.starts_with("<svg")) << picture;
  EXPECT_NE(picture.find("4 ranks"), std::string::npos);
}

}  // namespace

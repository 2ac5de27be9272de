// SPDX-License-Identifier: Apache-2.0
// The subcommands of kernels as a user meets them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "unit/tools/run_command.hpp"

namespace {

using shoal::tests::answer;
using shoal::tests::run_command;

struct kernel {
  const char* name;
  const char* small;  // options of a small problem
};

class kernel_commands : public testing::TestWithParam<kernel> {};

INSTANTIATE_TEST_SUITE_P(all, kernel_commands,
                         testing::Values(kernel{"histogram", "--table-mb 1 --updates 100000"},
                                         kernel{"gather", "--table-mb 1 --reads 100000"},
                                         kernel{"randperm", "--numbers 100000"}, kernel{"permute", "--rows 3000"},
                                         kernel{"transpose", "--rows 3000"}, kernel{"toposort", "--rows 3000"},
                                         kernel{"pagerank", "--kronecker 9"},
                                         kernel{"cc", "--uniform 9 --edge-factor 1"}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(kernel_commands, measure_and_validate_in_all_forms) {
  for (const std::string form : {"fast", "simple"})
    for (const std::string job : {"-w 2", "-n 2 -w 1", "-n 2 -w 1 --transport inproc --direct off"}) {
      const std::string arguments =
          std::string(GetParam().name) + " " + GetParam().small + " --repeat 2 --json - --form " + form + " " + job;
      const answer got = run_command(arguments, "2>/dev/null");
      ASSERT_EQ(got.status, 0) << arguments << got.text;
      const auto object = nlohmann::json::parse(got.text);
      EXPECT_EQ(object.at("checks").at("validated"), true) << arguments;
      EXPECT_EQ(object.at("metrics").at("rate").at("values").size(), 2U) << arguments;
      EXPECT_GT(object.at("metrics").at("time_s").at("median"), 0.0) << arguments;
      EXPECT_GT(object.at("metrics").at("construction_s").at("median"), 0.0) << arguments;
      EXPECT_EQ(object.at("parameters").at("form"), form);
    }
}

TEST_P(kernel_commands, refuse_bad_input) {
  const std::string name = GetParam().name;
  for (const std::string wrong : {"--form medium", "--repeat 0", "--no-such-option"}) {
    const answer got = run_command(name + " " + wrong);
    EXPECT_EQ(got.status, 2) << name << " " << wrong << got.text;
  }
}

TEST(bale_commands, refuse_bad_sizes) {
  for (const std::string wrong : {"gather --table-mb 0", "gather --reads 0", "gather --reads many",
                                  "randperm --numbers 0", "randperm --numbers -5", "permute --rows 0",
                                  "permute --per-row 0", "transpose --rows 4294967296", "toposort --per-row 2000000"}) {
    const answer got = run_command(wrong + " -w 1");
    EXPECT_EQ(got.status, 2) << wrong << got.text;
  }
}

TEST(bale_commands, refuse_what_does_not_fit_into_memory) {
  for (const std::string large : {"gather --reads 1099511627776", "randperm --numbers 1099511627776",
                                  "permute --rows 4000000000 --per-row 1000", "toposort --rows 4000000000"}) {
    const answer got = run_command(large + " -w 1");
    EXPECT_EQ(got.status, 1) << large << got.text;
    EXPECT_NE(got.text.find("of memory"), std::string::npos) << got.text;
  }
}

TEST(graph_commands, refuse_what_is_no_graph) {
  for (const std::string name : {"pagerank", "cc"})
    for (const std::string wrong :
         {"", "--kronecker 5 --uniform 5", "--kronecker 32", "/no/such/file", "--kronecker 5 --compact-ids"}) {
      const answer got = run_command(name + " " + wrong + " -w 1");
      EXPECT_EQ(got.status, 2) << name << " " << wrong << got.text;
    }
}

TEST(graph_commands, refuse_what_does_not_fit_into_memory) {
  for (const std::string name : {"pagerank", "cc"}) {
    const answer got = run_command(name + " --kronecker 31 --edge-factor 16000 -w 1");
    EXPECT_EQ(got.status, 1) << name << got.text;
    EXPECT_NE(got.text.find("TiB of memory"), std::string::npos) << got.text;
  }
}

TEST(graph_commands, read_files) {
  const std::string file = std::string(SHOAL_SOURCE_DIR) + "/data/debian-bookworm.txt.zst";
  for (const std::string name : {"pagerank", "cc"}) {
    const answer got = run_command(name + " " + file + " --repeat 1 -n 2 -w 1 --json -", "2>/dev/null");
    ASSERT_EQ(got.status, 0) << got.text;
    EXPECT_EQ(nlohmann::json::parse(got.text).at("checks").at("validated"), true) << name;
  }
}

TEST_P(kernel_commands, can_leave_the_check_out) {
  const answer got = run_command(
      std::string(GetParam().name) + " " + GetParam().small + " --repeat 1 --no-validate -w 1 --json -", "2>/dev/null");
  ASSERT_EQ(got.status, 0) << got.text;
  EXPECT_FALSE(nlohmann::json::parse(got.text).at("checks").contains("validated"));
}

}  // namespace

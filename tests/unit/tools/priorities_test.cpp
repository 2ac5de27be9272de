// SPDX-License-Identifier: Apache-2.0
// `shoal bench priorities` as a user meets it: its groups, its picture, and what it refuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "unit/tools/run_command.hpp"

namespace {

using shoal::tests::run_command;

TEST(bench_priorities, groups_are_measured_and_drawn) {
  const auto picture = std::filesystem::temp_directory_path() / "shoal_priorities_test.svg";
  const auto got = run_command(
      "bench priorities --experiments groups --repeat 2 --groups 3 --group-workers 2 --group-steps 2 --group-tasks 10 "
      "--json - --picture " +
          picture.string(),
      "2>/dev/null");
  ASSERT_EQ(got.status, 0) << got.text;
  const auto report = nlohmann::json::parse(got.text);
  EXPECT_EQ(report["checks"]["sums"], true);
  EXPECT_FALSE(report["metrics"].contains("chain_high_ms"));  // another experiment
  for (const char* treatment : {"even", "untreated", "shared", "nice", "high", "moved", "lent"})
    EXPECT_EQ(report["metrics"]["step_" + std::string(treatment) + "_ms"]["values"].size(), 2U) << treatment;
  std::ifstream file(picture);
  const std::string drawn(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(drawn.find("lent, first group"), std::string::npos);
  std::filesystem::remove(picture);
}

TEST(bench_priorities, tells_when_workers_take_turns) {
  const std::string shortly = "bench priorities --experiments groups --repeat 1 --group-steps 1 --group-tasks 1 ";
  EXPECT_TRUE(run_command(shortly + "--processors 1").has("2 workers of 2 groups take turns on 1 processor"));
}

TEST(bench_priorities, what_cannot_be_meant_is_refused_with_a_sentence) {
  EXPECT_TRUE(run_command("bench priorities --processors 1024").has("this process may use"));
  EXPECT_EQ(run_command("bench priorities --experiments none").status, 2);
  EXPECT_EQ(run_command("bench priorities --groups 1").status, 2);
  EXPECT_EQ(run_command("bench priorities --picture /nowhere/x.svg").status, 1);
}

}  // namespace

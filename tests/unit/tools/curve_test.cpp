// SPDX-License-Identifier: Apache-2.0
// `shoal bench curve` as a user meets it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "unit/tools/run_command.hpp"

namespace {

using shoal::tests::run_command;

TEST(bench_curve, runs_a_benchmark_at_each_point_and_draws_it) {
  const auto picture = std::filesystem::temp_directory_path() / "shoal_curve_test.svg";
  const auto got = run_command(
      "bench curve start --over nodes=4:16:x2 --over bytes=8,64 --repeats 2 --metric exchange_ms "
      "--json - --picture " +
          picture.string() + " -- --repeat 1",
      "2>/dev/null");
  ASSERT_EQ(got.status, 0) << got.text;
  const auto report = nlohmann::json::parse(got.text);
  EXPECT_EQ(report["parameters"]["nodes"], "4:16:x2");
  EXPECT_EQ(report["metrics"].size(), 6U);
  EXPECT_EQ(report["metrics"]["exchange_ms at nodes 8, bytes 64"]["values"].size(), 10U) << "two runs of five";
  EXPECT_EQ(report["checks"]["points"], true);
  std::ifstream file(picture);
  const std::string drawn(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(drawn.find("exchange_ms, ms"), std::string::npos);
  EXPECT_NE(drawn.find("bytes 64"), std::string::npos);
  std::filesystem::remove(picture);
}

TEST(bench_curve, runs_a_kernel) {
  const auto got =
      run_command("bench curve histogram --over n=1,2 -- -w 1 --repeat 1 --transport inproc --updates 10000");
  EXPECT_EQ(got.status, 0) << got.text;
  EXPECT_TRUE(got.has("at n 2")) << got.text;
}

TEST(bench_curve, goes_on_after_a_point_that_fails_and_names_it) {
  const auto got = run_command("bench curve start --over nodes=4,0,8 -- --repeat 1", "2>&1");
  EXPECT_EQ(got.status, 1);
  EXPECT_TRUE(got.has("come_ms at nodes 8")) << got.text;
  EXPECT_TRUE(got.has("check nodes 0: FAILED, exited with status")) << got.text;
  EXPECT_TRUE(got.has("2 of 3 measured")) << got.text;
}

TEST(bench_curve, what_cannot_be_meant_is_refused_with_a_sentence) {
  EXPECT_TRUE(run_command("bench curve nosuch --over nodes=1,2").has("is no benchmark and no kernel"));
  EXPECT_TRUE(run_command("bench curve start --over nodes=1:2:y2").has("is no step"));
  EXPECT_TRUE(run_command("bench curve start --over nodes=2 --metric nosuch -- --repeat 1").has("come_ms"));
  EXPECT_EQ(run_command("bench curve start").status, 2);
}

}  // namespace

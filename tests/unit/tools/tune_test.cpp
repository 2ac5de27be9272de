// SPDX-License-Identifier: Apache-2.0
// `shoal tune` as a user meets it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "unit/tools/run_command.hpp"

namespace {

using shoal::tests::answer;
using shoal::tests::run_command;
using shoal::tests::run_line;

TEST(tune_command, the_better_median_is_the_best_when_the_runs_are_used_up) {
  for (const int runs : {5, 6, 7, 8})
    for (const int seed : {1, 2, 3}) {
      const answer got = run_command("tune --parameter a=1:4 --metric '([0-9]+)' --seed " + std::to_string(seed) +
                                     " --runs " + std::to_string(runs) + " -- echo {a}");
      EXPECT_EQ(got.status, 0) << got.text;
      // The first line of the table is the point that is called best.
      const std::size_t end = got.text.find("greatest");
      const std::size_t line = got.text.find('\n', end) + 1;
      const std::string first = got.text.substr(line, got.text.find('\n', line) - line);
      const std::size_t best = got.text.find(": a ", got.text.find("\nbest"));
      ASSERT_NE(best, std::string::npos) << got.text;
      EXPECT_EQ(first.substr(first.find("a ")), got.text.substr(best + 2, 3)) << got.text;
    }
}

TEST(tune_command, keeps_nothing_that_is_undecided) {
  const std::string file = testing::TempDir() + "tune_undecided.toml";
  std::filesystem::remove(file);
  const std::string path = shoal::tests::command_path();
  ASSERT_NE(path, "");
  const answer got = run_line("SHOAL_TUNED='" + file + "' '" + path +
                              "' tune --setting steal=random,nearest --runs 2 --save -- true 2>&1");
  EXPECT_EQ(got.status, 1);
  EXPECT_TRUE(got.has("has been run only once")) << got.text;
  EXPECT_TRUE(got.has("not kept")) << got.text;
  EXPECT_TRUE(got.has("were used up")) << got.text;
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(tune_command, a_program_that_hangs_is_stopped) {
  const answer whole =
      run_command("tune --parameter a=1,2 --minutes 0.01 --metric '([0-9]+)' -- sh -c 'exec sleep 60{a}'");
  EXPECT_NE(whole.status, 0);
  EXPECT_TRUE(whole.has("no run has ended within --minutes")) << whole.text;
  const answer each =
      run_command("tune --parameter a=0,60 --run-seconds 0.3 --metric '([0-9]+)' -- sh -c 'echo 7; exec sleep {a}'");
  EXPECT_EQ(each.status, 0) << each.text;
  EXPECT_TRUE(each.has("best: a 0")) << each.text;
  EXPECT_TRUE(each.has("1 point failed")) << each.text;
}

TEST(tune_command, says_how_to_go_on_when_it_is_interrupted) {
  const std::string folder = testing::TempDir() + "tune_interrupted_" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  const std::string words = "tune --parameter a=1:8 --runs 9 --metric '([0-9]+)' -- sh -c 'sleep 0.3; echo {a}' 2>&1";
  const auto in_folder = [&](const std::string& line) { return run_line("cd '" + folder + "'; " + line); };
  const std::string interrupt = "env --default-signal=INT timeout --preserve-status --foreground -s INT 1.5 '";
  for (const char* const file : {"shoal-tune.runs", "shoal-tune-2.runs"}) {
    const answer got = in_folder(interrupt + shoal::tests::command_path() + "' " + words);
    EXPECT_EQ(got.status, 130) << got.text;
    EXPECT_TRUE(got.has(std::string("tune --resume ") + file)) << got.text;
    const std::size_t begin = got.text.find("To go on:\n") + 10;
    const answer more = in_folder(got.text.substr(begin, got.text.find('\n', begin) - begin) + " 2>&1");
    EXPECT_EQ(more.status, 0) << more.text;
    EXPECT_TRUE(more.has("best: a 8")) << more.text;
  }
  const answer named = in_folder(interrupt + shoal::tests::command_path() + "' tune --resume mine" + words.substr(4));
  EXPECT_EQ(named.status, 130) << named.text;
  EXPECT_TRUE(named.has("the runs so far are in mine")) << named.text;
  EXPECT_FALSE(std::filesystem::exists(folder + "/shoal-tune-3.runs"));
  std::filesystem::remove_all(folder);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "tune/trial.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "shoal/error.hpp"
#include "tune/journal.hpp"
#include "tune/outcome.hpp"

namespace shoal::tune {
namespace {

trial_end shell(const std::string& script, const figure& f, double limit = 0) {
  return run_trial({{"sh", "-c", script}, {}}, f, limit);
}

TEST(trial, a_figure_is_found_in_what_is_printed) {
  const figure pattern = parse_figure("([0-9.]+) MTEPS");
  EXPECT_EQ(find_figure(pattern, "search 1: 12.5 MTEPS\n"), 12.5);
  EXPECT_FALSE(find_figure(pattern, "nothing").has_value());
  EXPECT_FALSE(pattern.smaller_is_better);
  const figure json = parse_figure("json:mteps");
  EXPECT_EQ(find_figure(json, "text {not json} {\"metrics\": {\"mteps\": {\"median\": 7, \"min\": 5}}}"), 7.0);
  EXPECT_EQ(find_figure(json, "{\"mteps\": 3}"), 3.0);
  EXPECT_FALSE(find_figure(json, "{\"other\": 3}").has_value());
  EXPECT_TRUE(parse_figure("time").smaller_is_better);
  EXPECT_THROW(parse_figure("[0-9]+ MTEPS"), error);
  EXPECT_THROW(parse_figure("([0-9"), error);
  EXPECT_THROW(parse_figure("json:"), error);
}

TEST(trial, the_command_gets_values_as_words_settings_and_variables) {
  const space s({parse_parameter("grain=8,16"), parse_parameter("steal=random,nearest", parameter_kind::setting),
                 parse_parameter("OMP_NUM_THREADS=1,2", parameter_kind::environment)},
                {});
  const auto c = command_at(s, {1, 1, 0}, {"./app", "--grain={grain}", "{grain}{grain}"});
  EXPECT_EQ(c.arguments, (std::vector<std::string>{"./app", "--grain=16", "1616"}));
  EXPECT_EQ(c.environment, (std::vector<std::string>{"SHOAL_STEAL=nearest", "OMP_NUM_THREADS=1"}));
  EXPECT_NO_THROW(check_command(s, {"./app", "{grain}"}));
  EXPECT_THROW(check_command(s, {"./app"}), error);
  EXPECT_THROW(check_command(s, {"./app", "{grain}", "{grian}"}), error);
  EXPECT_THROW(check_command(s, {}), error);
}

TEST(trial, a_run_gives_its_figure_or_says_why_not) {
  EXPECT_EQ(shell("echo 5 things", parse_figure("([0-9]+) things")).value, 5.0);
  EXPECT_GT(shell("true", parse_figure("time")).value.value(), 0);
  const trial_end failed = shell("echo first >&2; echo no memory >&2; exit 3", parse_figure("time"));
  EXPECT_FALSE(failed.value.has_value());
  EXPECT_NE(failed.why_not.find("status 3"), std::string::npos);
  EXPECT_NE(failed.why_not.find("no memory"), std::string::npos);
  EXPECT_NE(shell("echo hello", parse_figure("([0-9]+) things")).why_not.find("no figure"), std::string::npos);
  EXPECT_FALSE(shell("echo 0 things", parse_figure("([0-9]+) things")).value.has_value());
  EXPECT_THROW(run_trial({{"no_such_program"}, {}}, parse_figure("time"), 0), error);
}

TEST(trial, a_run_that_takes_too_long_is_stopped) {
  const trial_end timed = shell("exec sleep 60", parse_figure("time"), 0.1);
  EXPECT_TRUE(timed.stopped);
  EXPECT_GE(timed.value.value(), 0.1);
  EXPECT_FALSE(shell("exec sleep 60", parse_figure("([0-9]+)"), 0.1).value.has_value());
}

class journal_files : public testing::Test {
protected:
  void SetUp() override {
    path_ = testing::TempDir() + "tune_journal_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_;
  space space_{{parse_parameter("a=1:4"), parse_parameter("b=x,y")}, {}};
  std::vector<std::string> command_ = {"./app", "{a}", "{b}"};
};

TEST_F(journal_files, runs_are_read_again_in_their_order) {
  {
    journal j(path_, space_, command_, "time");
    EXPECT_EQ(j.known(), 0U);
    EXPECT_FALSE(j.take({1, 1}).has_value());
    j.add({1, 1}, {1.5, "", false});
    j.add({1, 1}, {1.25, "", false});
    j.add({2, 0}, {{}, "exited with status 3", false});
    j.add({3, 0}, {9.0, "stopped", true});
  }
  std::ofstream(path_, std::ios::app) << "{\"point\": {\"a\":";  // killed while it wrote
  journal j(path_, space_, command_, "time");
  EXPECT_EQ(j.known(), 4U);
  EXPECT_EQ(j.take({1, 1})->value, 1.5);
  EXPECT_EQ(j.take({1, 1})->value, 1.25);
  EXPECT_FALSE(j.take({1, 1}).has_value());
  EXPECT_EQ(j.take({2, 0})->why_not, "exited with status 3");
  EXPECT_TRUE(j.take({3, 0})->stopped);
  j.add({0, 0}, {2.0, "", false});
  EXPECT_EQ(journal(path_, space_, command_, "time").known(), 5U);
}

TEST_F(journal_files, runs_of_another_search_are_refused) {
  journal(path_, space_, command_, "time").add({0, 0}, {1.0, "", false});
  EXPECT_THROW(journal(path_, space_, command_, "json:mteps"), error);
  EXPECT_THROW(journal(path_, space_, {"./other", "{a}"}, "time"), error);
  EXPECT_THROW(journal("/no/such/folder/file", space_, command_, "time"), error);
  std::ofstream(path_, std::ios::app) << "rubbish\n";
  EXPECT_THROW(journal(path_, space_, command_, "time"), error);
}

TEST(outcome, table_settings_and_map) {
  const space s({parse_parameter("stack=16K,64K", parameter_kind::setting), parse_parameter("grain=1:4")}, {});
  search_result r;
  r.points = {{{1, 2}, {1.0, 1.1, 1.2}, false}, {{0, 2}, {2.0}, false}, {{1, 0}, {4.0}, false}, {{0, 0}, {}, true}};
  const std::string table = outcome_table(s, r, "s");
  EXPECT_NE(table.find("stack 64K, grain 3"), std::string::npos);
  EXPECT_NE(table.find("1.818"), std::string::npos);
  EXPECT_NE(table.find("1 point failed"), std::string::npos);
  EXPECT_NE(outcome_table(s, r, "s", 2).find("and 1 more"), std::string::npos);
  const auto settings = settings_at(s, {1, 2});
  ASSERT_EQ(settings.size(), 1U);
  EXPECT_EQ(settings[0], (std::pair<std::string, std::string>("stack", "\"64K\"")));
  const std::string map = outcome_map(s, r, 1, 0, true, "s");
  EXPECT_NE(map.find("grain 3, stack 64K: 1.1 s"), std::string::npos);
  EXPECT_EQ(map.find("grain 2"), std::string::npos);
  EXPECT_EQ(outcome_table(s, {}, "s"), "every point failed\n");
}

}  // namespace
}  // namespace shoal::tune

// SPDX-License-Identifier: Apache-2.0
// What `shoal noise` refuses, writes as JSON, and how it ends.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "unit/tools/run_command.hpp"

namespace {

using shoal::tests::answer;
using shoal::tests::command_path;
using shoal::tests::run_command;
using shoal::tests::run_line;

TEST(noise_command, says_what_cannot_be_measured) {
  EXPECT_TRUE(run_command("noise --seconds 0.01 --quantum 1000000").has("too few"));
  EXPECT_NE(run_command("noise --seconds nan").status, 0);
  EXPECT_TRUE(run_command("noise --processors 1-x --seconds 0.1").has("as in 0,2-5"));
  EXPECT_TRUE(run_command("noise --processors 5-2 --seconds 0.1").has("as in 0,2-5"));
  EXPECT_EQ(run_command("noise --processors 0-0 --seconds 0.1").status, 0);
}

TEST(noise_command, options_without_effect_are_refused) {
  EXPECT_NE(run_command("noise --seconds 0.1 --delays 1us").status, 0);
  EXPECT_NE(run_command("noise --seconds 0.1 --picture file.svg").status, 0);
  EXPECT_NE(run_command("noise --seconds 0.1 -- true").status, 0);
}

TEST(noise_command, says_that_events_were_not_recorded) {
  const answer got = run_command("noise --seconds 0.2 --no-events --explain --detour 50");
  EXPECT_EQ(got.status, 0) << got.text;
  EXPECT_TRUE(got.has("were not recorded")) << got.text;
  EXPECT_FALSE(got.has("no event of the kernel")) << got.text;
}

// Each processor's part of what the table shows.
TEST(noise_command, json_has_what_the_table_shows_of_each_processor) {
  for (const char* const options : {"", " --no-events"}) {
    const answer got = run_command("noise --seconds 0.2 --json -" + std::string(options), "2>/dev/null");
    ASSERT_EQ(got.status, 0) << got.text;
    const auto object = nlohmann::json::parse(got.text, nullptr, false);
    ASSERT_TRUE(object.is_object()) << got.text;
    const auto& metrics = object["metrics"];
    const std::size_t processors = object["parameters"]["processors"].get<std::size_t>();
    const auto values = [&](const char* name) {
      EXPECT_TRUE(metrics.contains(name)) << name << got.text;
      return metrics.contains(name) ? metrics[name]["values"].get<std::vector<double>>() : std::vector<double>();
    };
    const auto lost = values("lost_share");
    const auto slower = values("slower_share");
    ASSERT_EQ(lost.size(), processors);
    ASSERT_EQ(slower.size(), processors);
    EXPECT_EQ(metrics.contains("kernel_share"), metrics.contains("kernel_events"));
    EXPECT_EQ(metrics.contains("unattributed_share"), metrics.contains("kernel_events"));
    if (!metrics.contains("kernel_events")) continue;
    const auto kernel = values("kernel_share");
    const auto unattributed = values("unattributed_share");
    ASSERT_EQ(kernel.size(), processors);
    ASSERT_EQ(unattributed.size(), processors);
    for (std::size_t p = 0; p < processors; ++p)
      EXPECT_NEAR(lost[p], kernel[p] + unattributed[p] + slower[p], 1e-6) << p << got.text;
  }
}

TEST(noise_command, has_the_status_of_its_program) {
  for (const char* const options : {"", "--json /dev/null "}) {
    const answer failed = run_command(std::string("noise --no-events ") + options + "-- sh -c 'exit 3'");
    EXPECT_EQ(failed.status, 3) << failed.text;
    EXPECT_TRUE(failed.has("the program exited with status 3")) << failed.text;
    const answer killed = run_command(std::string("noise --no-events ") + options + "-- sh -c 'kill -SEGV $$'");
    EXPECT_EQ(killed.status, 128 + 11) << killed.text;
    EXPECT_TRUE(killed.has("the program was killed by signal 11 (SIGSEGV)")) << killed.text;
  }
}

TEST(noise_command, shows_what_there_is_when_it_is_interrupted) {
  const auto interrupted = [](const std::string& words) {
    return run_line("env --default-signal=INT timeout --preserve-status --foreground -s INT 1 '" + command_path() +
                    "' noise --no-events " + words + " 2>&1");
  };
  const answer processors = interrupted("--seconds 600");
  EXPECT_EQ(processors.status, 130) << processors.text;
  EXPECT_TRUE(processors.has("interrupted")) << processors.text;
  EXPECT_TRUE(processors.has("slower")) << processors.text;
  const answer program = interrupted("-- sleep 600");
  EXPECT_EQ(program.status, 130) << program.text;
  EXPECT_TRUE(program.has("of the whole machine")) << program.text;
  const answer compared = interrupted("--inject message -- sleep 600");
  EXPECT_EQ(compared.status, 130) << compared.text;
  EXPECT_TRUE(compared.has("interrupted after 0 of 5 rounds")) << compared.text;
}

}  // namespace

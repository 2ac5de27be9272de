// SPDX-License-Identifier: Apache-2.0
// `shoal noise --inject` as a user meets it, its table and picture.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "shoal/error.hpp"
#include "tools/shoal/noise_injection.hpp"
#include "unit/tools/run_command.hpp"

namespace {

using namespace shoal::tools;
using shoal::tests::answer;
using shoal::tests::run_command;

TEST(noise_injection, makes_settings_of_events_kinds_and_delays) {
  injection_request r;
  r.events = {"message", "quantum"};
  r.delays = {"1us", "128"};
  r.quantum_us = 500;
  EXPECT_EQ(injections_of(r),
            (std::vector<std::string>{"message:constant(1us)", "message:constant(128)", "message:uniform(0,2us)",
                                      "message:uniform(0,256)", "quantum(500us):constant(1us)",
                                      "quantum(500us):constant(128)", "quantum(500us):uniform(0,2us)",
                                      "quantum(500us):uniform(0,256)"}));
  r.delays = {"soon"};
  EXPECT_THROW(injections_of(r), shoal::error);
  r.delays = {"1us"};
  r.kinds = {"normal"};
  EXPECT_THROW(injections_of(r), shoal::error);
  r.events = {"replay"};
  EXPECT_THROW(injections_of(r), shoal::error);  // without a recording
}

TEST(noise_injection, adds_what_all_nodes_have_said) {
  injection_row row;
  EXPECT_FALSE(take_report(row, "shoal: something else\n"));
  EXPECT_TRUE(take_report(row,
                          "shoal[1]: node 1: injected noise: 10 messages, 1.500 ms in all, 150000 ns each; 5 timers, "
                          "0.250 ms in all, 50000 ns each; seed 1, signature 00ff\n"
                          "shoal[0]: node 0: injected noise: 20 messages, 3.000 ms in all, 150000 ns each; 0 timers, "
                          "0.000 ms in all, 0 ns each; seed 1, signature 00ff\n"));
  EXPECT_EQ(row.delays, 35U);
  EXPECT_DOUBLE_EQ(row.delay_ms, 4.75);
  EXPECT_EQ(row.signature, "00ff");
}

TEST(noise_injection, judges_by_the_bounds_of_the_slowdown) {
  EXPECT_EQ(verdict_of({1.005, 1.001, 1.01}, 2), "borne");
  EXPECT_EQ(verdict_of({1.03, 1.01, 1.05}, 2), "open");
  EXPECT_EQ(verdict_of({1.05, 1.03, 1.07}, 2), "too much");
  const injection_row without{"", {1.0, 1.0, 1.0}, 0, 0, {}},
      slow{"message:constant(1us)", {1.5, 1.5, 1.5}, 9, 0.009, {}};
  EXPECT_DOUBLE_EQ(slowdown(slow, without, true).mean, 1.5);
  EXPECT_DOUBLE_EQ(slowdown(slow, without, false).mean, 1 / 1.5);  // a rate: faster
  const std::string text = injection_table({without, slow}, true, 2);
  EXPECT_NE(text.find("+50.0%"), std::string::npos) << text;
  EXPECT_NE(text.find("too much"), std::string::npos) << text;
  EXPECT_NE(injection_picture({without, slow}, true, 2).find("message:constant(1us)"), std::string::npos);
}

TEST(noise_injection, compares_runs_of_a_program) {
  const std::string shoal = shoal::tests::command_path();
  const answer got = run_command("noise --inject message --delays 1ms --kinds constant --repeat 2 -- '" + shoal +
                                 "' histogram --table-mb 1 --updates 100000 -n 2 -w 1 --direct off --repeat 1");
  EXPECT_EQ(got.status, 0) << got.text;
  EXPECT_TRUE(got.has("message:constant(1ms)")) << got.text;
  const answer none = run_command("noise --inject message --repeat 2 -- /bin/true");
  EXPECT_EQ(none.status, 2) << none.text;
  EXPECT_TRUE(none.has("/bin/true injects nothing")) << none.text;
  EXPECT_EQ(run_command("noise --inject message").status, 2);
  EXPECT_EQ(run_command("noise --inject lightning -- /bin/true").status, 2);
}

TEST(injected_noise, is_a_setting_of_every_job) {
  const auto with = [](const std::string& inject) {
    return shoal::tests::run_line("SHOAL_INJECT='" + inject + "' '" + shoal::tests::command_path() +
                                  "' histogram --table-mb 1 --updates 100000 -n 2 -w 1 --direct off --repeat 1 2>&1");
  };
  const answer got =
      with("message:constant(1us)+operation:uniform(0,10)+first_touch:constant(1)+quantum(1ms):constant(10us)");
  EXPECT_EQ(got.status, 0) << got.text;
  for (const char* part : {"node 0: injected noise: ", "node 1: injected noise: ", " operations, ", " messages, ",
                           " first touches, ", " timers, ", "validated: ok", "seed 1, signature "})
    EXPECT_TRUE(got.has(part)) << part << "\n" << got.text;
  const answer refused = shoal::tests::run_line("SHOAL_INJECT='quantum(1ms):constant(1us)' prlimit --sigpending=0 '" +
                                                shoal::tests::command_path() +
                                                "' histogram --table-mb 1 --updates 1000 -w 1 --repeat 1 2>&1");
  EXPECT_EQ(refused.status, 1) << refused.text;
  EXPECT_TRUE(refused.has("the system refuses a timer for a thread")) << refused.text;
  EXPECT_FALSE(refused.has("terminate")) << refused.text;
  const answer wrong = with("message:now");
  EXPECT_EQ(wrong.status, 2) << wrong.text;
  EXPECT_TRUE(wrong.has("there is no delay 'now'")) << wrong.text;
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "bench/profiling.hpp"

#include <gtest/gtest.h>

#include "base/settings.hpp"
#include "bench/micro/spawn.hpp"
#include "runtime/config.hpp"

namespace shoal::bench {
namespace {

profile of(double seconds, double interval, std::vector<std::uint32_t> running) {
  profile p;
  p.wall_seconds = seconds;
  p.workers.resize(2);
  for (profile_worker& w : p.workers) {
    w.work_seconds = seconds / 2;
    w.park = {1, seconds / 2};
  }
  p.interval_seconds = interval;
  p.offered = running;
  p.running = std::move(running);
  return p;
}

TEST(profiling, profiles_one_behind_the_other_are_one) {
  profile all = of(2, 0.5, {1, 2, 2, 1});
  append(all, of(4, 0.5, {2, 2, 2, 2, 0, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(all.wall_seconds, 6);
  for (const profile_worker& w : all.workers) {
    EXPECT_DOUBLE_EQ(w.seconds(), 6);
    EXPECT_EQ(w.park.count, 2U);
  }
  EXPECT_EQ(all.running, (std::vector<std::uint32_t>{1, 2, 2, 1, 2, 2, 2, 2, 0, 0, 0, 0}));
  append(all, of(4, 2, {2, 1}));  // a longer one, which has widened its interval
  EXPECT_DOUBLE_EQ(all.interval_seconds, 2);
  EXPECT_EQ(all.running, (std::vector<std::uint32_t>{2, 2, 0, 2, 1}));
  EXPECT_DOUBLE_EQ(all.wall_seconds, 10);
}

TEST(profiling, what_ran_is_kept_in_bounded_memory) {
  profile all = of(1, 0.001, std::vector<std::uint32_t>(1000, 2));
  for (int i = 0; i < 40; ++i) append(all, of(1, 0.001, std::vector<std::uint32_t>(1000, 2)));
  EXPECT_LE(all.running.size(), 8192U);
  EXPECT_NEAR(all.interval_seconds * static_cast<double>(all.running.size()), 41, 1);
  for (const auto v : all.running) EXPECT_EQ(v, 2U);
}

TEST(profiling, a_benchmark_of_its_own_pools_is_profiled) {
  profile_choice choice;
  choice.on = true;
  profile_collector collector(choice);
  EXPECT_TRUE(collector.on());
  EXPECT_TRUE(measure_spawn(spawn_form::group, 2, 16, "random", &collector).correct);
  EXPECT_TRUE(measure_spawn(spawn_form::invoke, 2, 16, "random", &collector).correct);
  testing::internal::CaptureStderr();
  collector.finish();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("3192 tasks spawned"), std::string::npos) << text;
}

TEST(profiling, the_command_line_becomes_settings) {
  profile_choice choice;
  choice.picture = "drawing.svg";
  choice.serial_seconds = 1.5;
  auto s = runtime::all_settings();
  choice.apply(s);
  s.check();
  const runtime::profile_wish wish = runtime::read_config(s).profiling;
  EXPECT_TRUE(wish.on);
  EXPECT_EQ(wish.picture, choice.picture);
  EXPECT_EQ(wish.options(1).serial_seconds, 1.5);
  EXPECT_FALSE(wish.options(2).serial_seconds.has_value());
  EXPECT_DOUBLE_EQ(wish.options(1).interval_seconds, 0.005);
}

TEST(profiling, files_of_several_nodes_have_numbers) {
  using runtime::profile_file;
  EXPECT_EQ(profile_file("out.json", 0, 1), "out.json");
  EXPECT_EQ(profile_file("out.json", 3, 4), "out.3.json");
  EXPECT_EQ(profile_file("a.b/out", 1, 2), "a.b/out.1");
  EXPECT_EQ(profile_file("a/.hidden", 1, 2), "a/.hidden.1");
  EXPECT_EQ(profile_file("", 1, 2), "");
}

}  // namespace
}  // namespace shoal::bench

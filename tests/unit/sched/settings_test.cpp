// SPDX-License-Identifier: Apache-2.0
#include "sched/settings.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shoal/error.hpp"

namespace shoal::sched {
namespace {

class sched_settings : public testing::Test {
protected:
  sched_settings() { s.add(k_sched_settings); }
  std::string refusal() {
    try {
      read_options(s);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::invalid_argument);
      return e.what();
    }
    return "accepted";
  }
  base::settings s;
};

TEST_F(sched_settings, become_the_options_of_a_pool) {
  s.set("waiting_memory", "1M");
  s.set("spin", "7");
  s.set("steal", "sticky");
  const options o = read_options(s);
  const pool_options p = make_pool_options(o, {.stack_bytes = 32U << 10, .most_stacks = 100});
  EXPECT_EQ(p.most_waiting_bytes, 1U << 20);
  EXPECT_EQ(p.spin_rounds, 7U);
  EXPECT_TRUE(p.steal);
  EXPECT_EQ(p.stack_bytes, 32U << 10);
  EXPECT_EQ(p.most_stacks, 100U);
}

TEST_F(sched_settings, a_pool_chooses_its_looks_itself_unless_it_is_told) {
  EXPECT_FALSE(read_options(s).spin);
  EXPECT_EQ(make_pool_options(read_options(s), {}).spin_rounds, pool_options().spin_rounds);
  s.set("spin", "0");
  EXPECT_EQ(make_pool_options(read_options(s), {}).spin_rounds, 0U);
}

TEST_F(sched_settings, an_unknown_policy_is_refused_with_the_settings_name_and_origin) {
  s.set("steal", "rondom", base::setting_origin::command_line);
  EXPECT_EQ(refusal().rfind("the setting steal (from the command line): 'rondom' is no victim policy", 0), 0U)
      << refusal();
}

TEST_F(sched_settings, a_malformed_topology_is_refused_with_the_settings_name) {
  s.set("topology", "four packages");
  EXPECT_EQ(refusal().rfind("the setting topology (from ", 0), 0U) << refusal();
}

}  // namespace
}  // namespace shoal::sched

// SPDX-License-Identifier: Apache-2.0
#include "cluster/team.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace shoal::cluster {
namespace {

TEST(node_teams, keeps_a_team_that_a_message_is_for_until_the_message_is_executed) {
  node_teams teams(0);
  const std::shared_ptr<detail::team_state> arriving = teams.of(7);
  EXPECT_EQ(teams.of(7), arriving);  // the member's
  teams.forget(7);                   // it has left, on another worker
  const std::weak_ptr<detail::team_state> state = arriving;
  arriving->on_announcement(0, 1, 0, detail::called(detail::collective::leave));
  EXPECT_EQ(state.use_count(), 1) << "only the message holds it";
  EXPECT_NE(teams.of(7), arriving);  // a team of that name that comes later is another one
}

}  // namespace
}  // namespace shoal::cluster

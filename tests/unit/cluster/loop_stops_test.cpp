// SPDX-License-Identifier: Apache-2.0
#include "cluster/loop_stops.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "unit/rounds.hpp"

namespace shoal::cluster {
namespace {

TEST(loop_stops, a_request_stops_shares_that_run_and_shares_that_begin_later) {
  loop_stops stops;
  const loop_stops::key k{3, stops.new_id()};
  const auto running = stops.enter(k);
  EXPECT_FALSE(running.stop_requested());
  EXPECT_FALSE(stops.enter({2, k.id}).stop_requested());
  stops.request(k);
  EXPECT_TRUE(running.stop_requested());
  stops.leave(k);
  EXPECT_TRUE(stops.enter(k).stop_requested()) << "it is kept after the last share";
  stops.leave(k);
  stops.leave({2, k.id});
  EXPECT_EQ(stops.size(), 1U);
  stops.forget(k);
  EXPECT_EQ(stops.size(), 0U);
}

// Shares of a group come and go while the request arrives.
TEST(loop_stops, a_request_is_kept_whenever_it_comes) {
  for (int round = 0; round < rounds(300, 60); ++round) {
    loop_stops stops;
    const loop_stops::key k{1, stops.new_id()};
    std::atomic<bool> begun{false};
    std::atomic<bool> asked{false};
    std::thread shares([&] {
      do {
        static_cast<void>(stops.enter(k));
        stops.leave(k);
        begun = true;
      } while (!asked);
    });
    while (!begun) std::this_thread::yield();
    stops.request(k);
    asked = true;
    shares.join();
    EXPECT_TRUE(stops.enter(k).stop_requested());
    stops.leave(k);
    stops.forget(k);
    EXPECT_EQ(stops.size(), 0U);
  }
}

}  // namespace
}  // namespace shoal::cluster

// SPDX-License-Identifier: Apache-2.0
#include "sched/ready_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "shoal/random.hpp"

namespace shoal::sched {
namespace {

TEST(ready_queue, keeps_its_order_over_growth_and_wrapping) {
  std::vector<fiber::fiber> fibers(3000);
  std::vector<std::byte> frames(4096);
  for (auto& f : fibers) f.context = frames.data();  // what is prefetched
  ready_queue q;
  std::deque<ready_queue::entry> model;
  xoshiro256ss random(7);
  std::size_t next = 0;
  for (int step = 0; step < 50'000; ++step) {
    const bool fill = (step / 5000) % 2 == 0;  // grows for a while, then shrinks
    if (random.below(10) < (fill ? 7U : 3U) && model.size() < fibers.size()) {
      fiber::fiber* f = &fibers[next++ % fibers.size()];
      if (random.below(8) == 0) {
        q.push_front(f);
        model.push_front({f, 0});
      } else {
        q.push(f, next);
        model.push_back({f, next});
      }
    } else if (!model.empty()) {
      const auto popped = q.pop();
      ASSERT_EQ(popped.fiber, model.front().fiber);
      ASSERT_EQ(popped.word, model.front().word);
      model.pop_front();
    }
    ASSERT_EQ(q.size(), model.size());
    ASSERT_EQ(q.empty(), model.empty());
  }
  EXPECT_GT(next, 20'000U);
}

}  // namespace
}  // namespace shoal::sched

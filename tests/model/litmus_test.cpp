// SPDX-License-Identifier: Apache-2.0
// The shapes of accesses on which the runtime relies, with the orders that it uses, on the simulated memory; beside each
// a weaker form, whose bad outcome the model must find. x86 hides most of these outcomes, arm64 does not
// (docs/decisions/0028-orders-for-weak-memory.md). explorer_test.cpp tests the model itself.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "model/explorer/explorer.hpp"

namespace shoal::model {
namespace {

using enum std::memory_order;

struct litmus_cells {
  model_atomic<int> x{0}, y{0}, z{0};
  int r[3] = {0, 0, 0};
};
using litmus_thread = std::function<void(litmus_cells&)>;

// Whether some execution ends with these registers.
bool shows(const std::string& bad, std::vector<litmus_thread> threads) {
  std::set<std::string> seen;
  const outcome o = explore(
      [&](execution& run) {
        auto c = std::make_shared<litmus_cells>();
        for (std::size_t i = 0; i < threads.size(); ++i)
          run.thread(fmt::format("t{}", i), [c, &body = threads[i]] { body(*c); });
        run.finally([c, &bad, &seen] {
          std::string text;
          for (std::size_t i = 0; i < bad.size(); ++i) text += std::to_string(c->r[i]);
          seen.insert(text);
        });
      },
      systematically(8));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(o.complete) << o;
  EXPECT_GT(seen.size(), 1U);  // the threads meet
  return seen.contains(bad);
}

void fence(std::memory_order order) { model_atomics::fence(order); }

// A queue, a promise, a ring: what was written before is there for whoever takes it.
TEST(litmus, what_is_published_is_complete) {
  const auto with = [](std::memory_order publish, std::memory_order take) {
    return shows("10", {[=](litmus_cells& c) {
                          c.x.store(1, relaxed);
                          c.y.store(1, publish);
                        },
                        [=](litmus_cells& c) {
                          c.r[0] = c.y.load(take);
                          c.r[1] = c.x.load(relaxed);
                        }});
  };
  EXPECT_FALSE(with(release, acquire));
  EXPECT_TRUE(with(relaxed, acquire));
  EXPECT_TRUE(with(release, relaxed));
}

// The same through a third thread: a task that another worker hands on.
TEST(litmus, what_is_handed_on_is_complete) {
  const auto with = [](std::memory_order hand_on) {
    return shows("110", {[](litmus_cells& c) {
                           c.x.store(1, relaxed);
                           c.y.store(1, release);
                         },
                         [=](litmus_cells& c) {
                           c.r[0] = c.y.load(acquire);
                           c.z.store(1, hand_on);
                         },
                         [](litmus_cells& c) {
                           c.r[1] = c.z.load(acquire);
                           c.r[2] = c.x.load(relaxed);
                         }});
  };
  EXPECT_FALSE(with(release));
  EXPECT_TRUE(with(relaxed));
}

// Copies of elements (copy_elements), and the flag that is set by a bare verb.
TEST(litmus, copied_elements_are_there_when_the_flag_is) {
  const auto with = [](bool fenced) {
    return shows("10", {[](litmus_cells& c) {
                          c.x.store(1, relaxed);
                          c.y.store(1, seq_cst);
                        },
                        [=](litmus_cells& c) {
                          c.r[0] = c.y.load(relaxed);
                          if (fenced) fence(acquire);
                          c.r[1] = c.x.load(relaxed);
                        }});
  };
  EXPECT_FALSE(with(true));
  EXPECT_TRUE(with(false));
}

litmus_thread announce_and_look(const std::function<void(model_atomic<int>&)>& announce, std::memory_order look,
                                bool left) {
  return [=](litmus_cells& c) {
    announce(left ? c.x : c.y);
    c.r[left ? 0 : 1] = (left ? c.y : c.x).load(look);
  };
}

// doorbell, announcements, leaving_wait, the lanes of priorities: each side announces and then looks (Dekker).
TEST(litmus, one_of_two_that_announce_and_look_sees_the_other) {
  const auto with = [](const std::function<void(model_atomic<int>&)>& announce, std::memory_order look) {
    return shows("00", {announce_and_look(announce, look, true), announce_and_look(announce, look, false)});
  };
  EXPECT_FALSE(with(
      [](model_atomic<int>& at) {
        at.store(1, relaxed);
        fence(seq_cst);
      },
      relaxed));
  EXPECT_TRUE(with(
      [](model_atomic<int>& at) {
        at.store(1, release);
        fence(acq_rel);
      },
      acquire));
  // The search for cycles of waits, detached buffers: sequentially consistent accesses on all sides.
  EXPECT_FALSE(with([](model_atomic<int>& at) { at.exchange(1, seq_cst); }, seq_cst));
  // A locked instruction is a fence on x86, and only there.
  EXPECT_TRUE(with([](model_atomic<int>& at) { at.exchange(1, seq_cst); }, relaxed));
  EXPECT_TRUE(with([](model_atomic<int>& at) { at.store(1, seq_cst); }, acquire));
}

// deque: the owner's pop has a fence, a thief that takes a batch an exchange and a load; a bulk copy, and a bare verb.
TEST(litmus, a_fence_meets_sequentially_consistent_accesses) {
  const auto with = [](std::memory_order take, std::memory_order look) {
    return shows("00", {[](litmus_cells& c) {
                          c.x.store(1, release);
                          fence(seq_cst);
                          c.r[0] = c.y.load(relaxed);
                        },
                        [=](litmus_cells& c) {
                          c.y.exchange(1, take);
                          c.r[1] = c.x.load(look);
                        }});
  };
  EXPECT_FALSE(with(seq_cst, seq_cst));
  EXPECT_TRUE(with(acq_rel, seq_cst));
  EXPECT_TRUE(with(seq_cst, acquire));
}

// wake_sign, unlocking: the frequent side has no fence, because the rare one has all threads execute one (membarrier).
TEST(litmus, a_fence_on_all_threads_serves_both_sides) {
  const auto with = [](const std::function<void()>& rare) {
    return shows("00", {[](litmus_cells& c) {
                          c.x.store(1, relaxed);
                          c.r[0] = c.y.load(relaxed);
                        },
                        [=](litmus_cells& c) {
                          c.y.store(1, relaxed);
                          rare();
                          c.r[1] = c.x.load(relaxed);
                        }});
  };
  EXPECT_FALSE(with([] { model_atomics::heavy_fence(); }));
  EXPECT_TRUE(with([] { fence(seq_cst); }));
}

// sched/stillness: what is read of a sleeping worker is valid if it has slept before and afterwards.
TEST(litmus, what_is_read_of_a_sleeper_is_valid_if_it_sleeps_on) {
  const auto with = [](bool writer, bool reader) {
    return shows("010", {[=](litmus_cells& c) {
                           c.y.fetch_add(1, seq_cst);
                           if (writer) fence(seq_cst);
                           c.x.store(1, relaxed);
                         },
                         [=](litmus_cells& c) {
                           c.r[0] = c.y.load(seq_cst);
                           c.r[1] = c.x.load(relaxed);
                           if (reader) fence(acquire);
                           c.r[2] = c.y.load(relaxed);
                         }});
  };
  EXPECT_FALSE(with(true, true));
  EXPECT_TRUE(with(false, true));
  EXPECT_TRUE(with(true, false));
}

// What the model cannot show: a load that sees a store executed later, which arm64 allows for relaxed accesses. So no
// structure may need it to be impossible: whoever acts on what it has read acquires, or publishes with a release.
TEST(litmus, load_buffering_is_not_simulated) {
  const auto with = [](std::memory_order load, std::memory_order store) {
    return shows("11", {[=](litmus_cells& c) {
                          c.r[0] = c.x.load(load);
                          c.y.store(1, store);
                        },
                        [=](litmus_cells& c) {
                          c.r[1] = c.y.load(load);
                          c.x.store(1, store);
                        }});
  };
  EXPECT_FALSE(with(acquire, relaxed));
  EXPECT_FALSE(with(relaxed, release));
  EXPECT_FALSE(with(relaxed, relaxed)) << "the model has become stronger: correct the decision page";
}

}  // namespace
}  // namespace shoal::model

// SPDX-License-Identifier: Apache-2.0
// Tests the explorer with the classical litmus tests: outcomes that it must find and outcomes that it must never show.
#include "model/explorer/explorer.hpp"

#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace shoal::model {
namespace {

using enum std::memory_order;

struct cells {
  model_atomic<int> x{0}, y{0}, z{0};
  model_plain<int> data{0};
  int r[6] = {-1, -1, -1, -1, -1, -1};
};
using steps = std::function<void(cells&)>;

// The sets of observed results, as text: "r0 r1 ...".
std::set<std::string> results(std::vector<steps> threads, int registers, search how = systematically(8)) {
  std::set<std::string> seen;
  const outcome o = explore(
      [&](execution& run) {
        auto c = std::make_shared<cells>();
        for (std::size_t i = 0; i < threads.size(); ++i)
          run.thread(fmt::format("t{}", i), [c, &body = threads[i]] { body(*c); });
        run.finally([c, registers, &seen] {
          std::string text;
          for (int i = 0; i < registers; ++i) text += std::to_string(c->r[i]);
          seen.insert(text);
        });
      },
      how);
  EXPECT_FALSE(o.failed) << o;
  EXPECT_TRUE(how.random || o.complete) << o;
  return seen;
}

using outcomes = std::set<std::string>;

outcomes store_buffering(std::memory_order store, std::memory_order load, bool fence) {
  return results({[=](cells& c) {
                    c.x.store(1, store);
                    if (fence) model_atomics::fence(seq_cst);
                    c.r[0] = c.y.load(load);
                  },
                  [=](cells& c) {
                    c.y.store(1, store);
                    if (fence) model_atomics::fence(seq_cst);
                    c.r[1] = c.x.load(load);
                  }},
                 2);
}

TEST(explorer, store_buffering) {
  const outcomes weak{"00", "01", "10", "11"};
  const outcomes strong{"01", "10", "11"};
  EXPECT_EQ(store_buffering(relaxed, relaxed, false), weak);
  EXPECT_EQ(store_buffering(release, acquire, false), weak);
  EXPECT_EQ(store_buffering(seq_cst, acquire, false), weak);
  EXPECT_EQ(store_buffering(seq_cst, seq_cst, false), strong);
  EXPECT_EQ(store_buffering(relaxed, relaxed, true), strong);
}

outcomes message_passing(std::memory_order store, std::memory_order load) {
  return results({[=](cells& c) {
                    c.x.store(1, relaxed);
                    c.y.store(1, store);
                  },
                  [=](cells& c) {
                    c.r[0] = c.y.load(load);
                    c.r[1] = c.x.load(relaxed);
                  }},
                 2);
}

TEST(explorer, message_passing) {
  const outcomes weak{"00", "01", "10", "11"};
  const outcomes strong{"00", "01", "11"};
  EXPECT_EQ(message_passing(relaxed, relaxed), weak);
  EXPECT_EQ(message_passing(release, relaxed), weak);
  EXPECT_EQ(message_passing(relaxed, acquire), weak);
  EXPECT_EQ(message_passing(release, acquire), strong);
}

TEST(explorer, message_passing_by_fences) {
  const auto with = [](std::memory_order writer, std::memory_order reader) {
    return results({[=](cells& c) {
                      c.x.store(1, relaxed);
                      model_atomics::fence(writer);
                      c.y.store(1, relaxed);
                    },
                    [=](cells& c) {
                      c.r[0] = c.y.load(relaxed);
                      model_atomics::fence(reader);
                      c.r[1] = c.x.load(relaxed);
                    }},
                   2);
  };
  EXPECT_EQ(with(release, acquire), (outcomes{"00", "01", "11"}));
  EXPECT_EQ(with(acquire, acquire).count("10"), 1U);
  EXPECT_EQ(with(release, release).count("10"), 1U);
}

TEST(explorer, release_sequence_goes_through_a_read_modify_write_but_not_through_a_store) {
  const auto with = [](steps in_between) {
    return results({[=](cells& c) {
                      c.x.store(1, relaxed);
                      c.y.store(1, release);
                      in_between(c);
                    },
                    [](cells& c) {
                      c.r[0] = c.y.load(acquire);
                      c.r[1] = c.x.load(relaxed);
                    }},
                   2);
  };
  EXPECT_EQ(with([](cells& c) { c.y.fetch_add(1, relaxed); }).count("20"), 0U);
  EXPECT_EQ(with([](cells& c) { c.y.store(2, relaxed); }).count("20"), 1U);
}

outcomes independent_reads(std::memory_order store, std::memory_order load) {
  return results({[=](cells& c) { c.x.store(1, store); }, [=](cells& c) { c.y.store(1, store); },
                  [=](cells& c) {
                    c.r[0] = c.x.load(load);
                    c.r[1] = c.y.load(load);
                  },
                  [=](cells& c) {
                    c.r[2] = c.y.load(load);
                    c.r[3] = c.x.load(load);
                  }},
                 4, systematically(2));
}

TEST(explorer, independent_reads_of_independent_writes) {
  EXPECT_EQ(independent_reads(release, acquire).count("1010"), 1U);
  const outcomes strong = independent_reads(seq_cst, seq_cst);
  EXPECT_EQ(strong.count("1010"), 0U);
  EXPECT_EQ(strong.size(), 15U);  // all others
}

TEST(explorer, coherence_of_one_location) {
  const outcomes seen = results({[](cells& c) {
                                   c.x.store(1, relaxed);
                                   c.x.store(2, relaxed);
                                 },
                                 [](cells& c) {
                                   c.r[0] = c.x.load(relaxed);
                                   c.r[1] = c.x.load(relaxed);
                                 }},
                                2);
  EXPECT_EQ(seen, (outcomes{"00", "01", "02", "11", "12", "22"}));
}

TEST(explorer, a_write_seen_by_one_is_seen_by_who_learns_of_it) {
  const outcomes seen = results({[](cells& c) { c.x.store(1, relaxed); },
                                 [](cells& c) {
                                   c.r[0] = c.x.load(relaxed);
                                   c.y.store(1, release);
                                 },
                                 [](cells& c) {
                                   c.r[1] = c.y.load(acquire);
                                   c.r[2] = c.x.load(relaxed);
                                 }},
                                3);
  EXPECT_EQ(seen.count("110"), 0U);
  EXPECT_EQ(seen.count("010"), 1U);
}

TEST(explorer, read_modify_writes_lose_nothing) {
  const steps add = [](cells& c) { c.x.fetch_add(1, relaxed); };
  EXPECT_EQ(results({add, add, [](cells& c) { c.r[0] = c.x.exchange(7, relaxed) >= 0; }}, 1).size(), 1U);
  std::set<int> sums;
  const outcome o = explore(
      [&](execution& run) {
        auto c = std::make_shared<cells>();
        for (int t = 0; t < 3; ++t)
          run.thread("adder", [c] {
            int old = c->x.load(relaxed);
            while (!c->x.compare_exchange_strong(old, old + 1, relaxed, relaxed)) {
            }
          });
        run.finally([c, &sums] { sums.insert(c->x.load(relaxed)); });
      },
      randomly(20'000));
  EXPECT_FALSE(o.failed) << o;
  EXPECT_EQ(sums, std::set<int>{3});
}

TEST(explorer, finds_the_same_at_random_as_systematically) {
  const steps left = [](cells& c) {
    c.x.store(1, relaxed);
    c.r[0] = c.y.load(relaxed);
  };
  const steps right = [](cells& c) {
    c.y.store(1, relaxed);
    c.r[1] = c.x.load(relaxed);
  };
  EXPECT_EQ(results({left, right}, 2, randomly(2000)), results({left, right}, 2));
}

outcome two_threads(const steps& left, const steps& right, unsigned step_bound = 2000) {
  search how = systematically(8);
  how.steps = step_bound;
  return explore(
      [&](execution& run) {
        auto c = std::make_shared<cells>();
        run.thread("left", [c, &left] { left(*c); });
        run.thread("right", [c, &right] { right(*c); });
      },
      how);
}

TEST(explorer, data_race_on_plain_data) {
  const auto with = [](std::memory_order store, std::memory_order load) {
    return two_threads(
        [=](cells& c) {
          c.data.write(42);
          c.y.store(1, store);
        },
        [=](cells& c) {
          if (c.y.load(load) == 1) check(c.data.read() == 42, "the data are there");
        });
  };
  EXPECT_FALSE(with(release, acquire).failed);
  for (const outcome& o : {with(relaxed, acquire), with(release, relaxed)}) {
    EXPECT_TRUE(o.failed);
    EXPECT_NE(o.reason.find("data race: read by thread right"), std::string::npos) << o;
  }
}

TEST(explorer, a_write_after_an_unordered_read_is_a_race) {
  const outcome o = two_threads([](cells& c) { c.data.read(); }, [](cells& c) { c.data.write(1); });
  EXPECT_TRUE(o.failed) << o;
}

TEST(explorer, flags_that_exclude_each_other_need_their_fence) {
  const auto with = [](std::memory_order fence) {
    const auto enter = [fence](cells& c, model_atomic<int>& mine, model_atomic<int>& other) {
      mine.store(1, relaxed);
      model_atomics::fence(fence);
      if (other.load(acquire) == 0) c.data.write(c.data.read() + 1);
    };
    return two_threads([=](cells& c) { enter(c, c.x, c.y); }, [=](cells& c) { enter(c, c.y, c.x); });
  };
  const outcome fenced = with(seq_cst);
  EXPECT_FALSE(fenced.failed) << fenced;
  EXPECT_TRUE(fenced.complete);
  const outcome weaker = with(acq_rel);
  EXPECT_NE(weaker.reason.find("data race"), std::string::npos) << weaker;
}

TEST(explorer, deadlock_and_endless_run_are_failures) {
  const outcome dead = two_threads([](cells& c) { c.x.futex_wait(0); }, [](cells&) {});
  EXPECT_NE(dead.reason.find("deadlock: thread left"), std::string::npos) << dead;
  const outcome endless = two_threads(
      [](cells& c) {
        while (c.x.load(relaxed) == 0) execution::current().give_way();
      },
      [](cells&) {}, 100);
  EXPECT_NE(endless.reason.find("no end after 100 steps"), std::string::npos) << endless;
  const outcome woken = two_threads(
      [](cells& c) {
        while (c.x.load(relaxed) == 0) c.x.futex_wait(0);
      },
      [](cells& c) {
        c.x.store(1, relaxed);
        c.x.futex_wake_one();
      });
  EXPECT_FALSE(woken.failed) << woken;
  EXPECT_TRUE(woken.complete);
}

TEST(explorer, an_exception_and_a_failed_check_are_failures_and_nothing_stays_behind) {
  const outcome thrown =
      two_threads([](cells&) { throw std::runtime_error("no"); }, [](cells& c) { c.x.load(relaxed); });
  EXPECT_EQ(thrown.reason, "thread left threw: no");
  std::weak_ptr<int> left_behind;
  const outcome failed = two_threads(
      [&](cells& c) {
        auto local = std::make_shared<int>(1);
        left_behind = local;
        c.x.store(1, relaxed);
        c.x.store(2, relaxed);
      },
      [](cells& c) { check(c.x.load(relaxed) != 1, "x is not 1"); });
  EXPECT_EQ(failed.reason.substr(0, 10), "x is not 1") << failed;
  EXPECT_NE(failed.trace.find("store @0 1 relaxed"), std::string::npos) << failed;
  EXPECT_TRUE(left_behind.expired());
}

TEST(explorer, a_seed_replays_its_failure) {
  const scenario racy = [](execution& run) {
    auto c = std::make_shared<cells>();
    run.thread("writer", [c] {
      c->x.store(1, relaxed);
      c->y.store(1, relaxed);
    });
    run.thread("reader", [c] { check(!(c->y.load(acquire) == 1 && c->x.load(relaxed) == 0), "x before y"); });
  };
  const outcome first = explore(racy, randomly(10'000));
  ASSERT_TRUE(first.failed);
  EXPECT_GT(first.executions, 1U);
  ASSERT_EQ(setenv("SHOAL_MODEL_SEED", std::to_string(first.executions).c_str(), 1), 0);
  const outcome again = explore(racy, randomly(10'000));
  unsetenv("SHOAL_MODEL_SEED");
  EXPECT_EQ(again.executions, 1U);
  EXPECT_EQ(again.trace, first.trace);
}

}  // namespace
}  // namespace shoal::model

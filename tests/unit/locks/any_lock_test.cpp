// SPDX-License-Identifier: Apache-2.0
#include "shoal/locks/any_lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "shoal/error.hpp"
#include "unit/machine/in_child.hpp"

namespace shoal {
namespace {

using named = std::tuple<std::string_view, std::string_view>;

class every_lock : public testing::TestWithParam<named> {
protected:
  std::unique_ptr<any_lock> make(const lock_options& options = {}) const {
    return make_lock(std::get<0>(GetParam()), parse_wait_kind(std::get<1>(GetParam())), options);
  }
};

TEST_P(every_lock, excludes) {
  const auto lock = make();
  constexpr int k_threads = 4;
  // Spinning threads that outnumber the processors get nowhere fast.
  const int k_each = std::get<1>(GetParam()) == "spin" ? 100 : 5000;
  long count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < k_threads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < k_each; ++i) {
        if (i % 3 == 2) {
          while (!lock->try_lock()) std::this_thread::yield();
          ++count;
          lock->unlock();
        } else if (i % 3 == 1) {
          lock->lock(static_cast<unsigned>(t));
          ++count;
          lock->unlock();
        } else {
          const std::lock_guard guard(*lock);
          ++count;
        }
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(count, k_threads * k_each);
}

TEST_P(every_lock, try_lock_says_no_while_it_is_held_and_yes_again) {
  const auto lock = make();
  for (unsigned cls : {0U, 1U}) {
    lock->lock(cls);
    std::thread([&] { EXPECT_FALSE(lock->try_lock()); }).join();
    lock->unlock();
    std::thread([&] {
      EXPECT_TRUE(lock->try_lock());
      lock->unlock();
    }).join();
  }
}

TEST_P(every_lock, a_waiter_gets_it_after_a_long_time) {
  const auto lock = make();
  lock_event event;
  lock->lock();
  std::thread one([&] {
    lock->lock(1);
    lock->unlock();
  });
  std::thread other([&] {
    lock->lock_for(event);
    lock->unlock();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // they sleep, if they do that
  lock->unlock();
  one.join();
  other.join();
  EXPECT_TRUE(lock->try_lock());
  lock->unlock();
}

TEST_P(every_lock, knows_its_owner) {
  const auto lock = make();
  EXPECT_EQ(lock->owner().text(), "nobody");
  lock->lock();
  const lock_owner me = lock->owner();
  EXPECT_TRUE(me.lives);
  EXPECT_EQ(me.text().find("thread " + std::to_string(me.thread)), 0U) << me.text();
  lock->unlock();
  EXPECT_EQ(lock->owner().thread, 0U);
}

std::vector<named> all_locks() {
  std::vector<named> all;
  for (const auto kind : lock_kinds())
    for (const auto wait : wait_kinds()) all.emplace_back(kind, wait);
  return all;
}
TEST_P(every_lock, an_unlock_without_a_holder_is_told) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto lock = make();
  lock->lock();
  lock->unlock();
  EXPECT_DEATH(lock->unlock(), "a lock without an owner");
}

INSTANTIATE_TEST_SUITE_P(all, every_lock, testing::ValuesIn(all_locks()), [](const auto& one) {
  return std::string(std::get<0>(one.param)) + "_" + std::string(std::get<1>(one.param));
});

TEST(any_lock, a_thread_that_ended_while_holding_is_named) {
  const auto lock = make_lock("tas");
  std::thread([&] { lock->lock(); }).join();
  lock_owner who = lock->owner();
  for (int i = 0; i < 1000 && who.lives; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    who = lock->owner();
  }
  EXPECT_NE(who.thread, 0U);
  EXPECT_EQ(who.text(), "thread " + std::to_string(who.thread) + ", which has ended");
}

TEST(any_lock, a_forked_child_uses_free_locks_with_threads_of_its_own) {
  for (const std::string_view kind : lock_kinds()) {
    const auto lock = make_lock(kind, wait_kind::park);
    long count = 0;
    const auto crowd = [&] {
      std::vector<std::thread> threads;
      for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
          for (int i = 0; i < 300; ++i) {
            const std::lock_guard guard(*lock);
            ++count;
          }
        });
      for (std::thread& t : threads) t.join();
    };
    crowd();  // it has been slept at
    const int status = machine::in_child([&] {
      crowd();
      if (count != 1800) return 1;
      lock->lock();
      return lock->owner().lives ? 0 : 2;
    });
    EXPECT_TRUE(machine::exited_with(status, 0)) << kind << " " << status;
    EXPECT_EQ(count, 900) << kind;
  }
}

TEST(any_lock, an_unknown_kind_is_refused_with_those_that_there_are) {
  try {
    make_lock("best");
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::invalid_argument);
    const std::string says = e.what();
    EXPECT_NE(says.find("'best'"), std::string::npos) << says;
    for (const auto kind : lock_kinds()) EXPECT_NE(says.find(kind), std::string::npos) << says;
  }
  EXPECT_THROW(parse_wait_kind("sleep"), error);
  EXPECT_EQ(parse_wait_kind("park"), wait_kind::park);
}

TEST(any_lock, all_kinds_are_there) {
  const std::vector<std::string_view> kinds(lock_kinds().begin(), lock_kinds().end());
  for (const std::string_view kind :
       {"mutex", "tas", "ticket", "priority", "mcs", "clh", "hierarchical", "bounded", "message"})
    EXPECT_NE(std::find(kinds.begin(), kinds.end(), kind), kinds.end()) << kind;
}

}  // namespace
}  // namespace shoal

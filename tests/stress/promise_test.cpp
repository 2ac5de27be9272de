// SPDX-License-Identifier: Apache-2.0
// Promises that threads of the program set while pools come and go: the woken task may end the pool before the thread has
// rung the worker, the future may have been dropped or followed, and the pool may be gone before the promise is set. A
// hook delays the threads between making the task runnable and ringing. How long, and with which seed: stress/rounds.hpp.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "sched/pool.hpp"
#include "shoal/error.hpp"
#include "shoal/future.hpp"
#include "shoal/random.hpp"
#include "stress/rounds.hpp"

namespace shoal::sched {
namespace {

std::atomic<int> g_inside{0};  // threads between push and ring

void delay() {
  thread_local std::uint64_t count = 0;
  g_inside.fetch_add(1);
  if (++count % 2 == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(splitmix64::at(7, count) % 300));
  else
    std::this_thread::yield();
  g_inside.fetch_sub(1);
}

// Threads that do what they are given, until the end.
class setters {
public:
  explicit setters(unsigned threads) {
    for (unsigned t = 0; t < threads; ++t) threads_.emplace_back([this] { work(); });
  }
  ~setters() {
    {
      const std::lock_guard hold(lock_);
      ends_ = true;
    }
    changed_.notify_all();
    for (auto& t : threads_) t.join();
  }
  void give(std::function<void()> job) {
    {
      const std::lock_guard hold(lock_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

private:
  void work() {
    base::set_log_context({.level = base::log_level::quiet});  // some promises are set too late for what follows
    for (;;) {
      std::unique_lock hold(lock_);
      changed_.wait(hold, [this] { return ends_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto job = std::move(jobs_.front());
      jobs_.pop_front();
      hold.unlock();
      job();
    }
  }
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

struct alignas(64) wide {
  std::uint64_t value;
};
using large = std::array<std::uint64_t, 40>;

template <class T>
T made_of(std::uint64_t value) {
  if constexpr (std::is_same_v<T, large>)
    return large{value};
  else
    return T{value};
}
template <class T>
std::uint64_t value_of(const T& t) {
  if constexpr (std::is_same_v<T, large>)
    return t[0];
  else if constexpr (std::is_same_v<T, wide>)
    return t.value;
  else
    return t;
}

// A promise that a thread sets; its future is waited for, or dropped: then the pool may be gone. `followed`: so is that of a
// continuation.
template <class T>
void one(setters& threads, std::uint64_t value, bool dropped, bool broken, bool followed) {
  auto given = std::make_shared<promise<T>>();
  auto result = given->get_future();
  threads.give([given = std::move(given), value, broken]() mutable {
    if (broken)
      given.reset();
    else
      given->set_value(made_of<T>(value));
  });
  if (followed) result = result.then([](T t) { return t; });
  if (dropped) return;
  try {
    EXPECT_EQ(value_of(result.get()), value);
    EXPECT_FALSE(broken);
  } catch (const error& e) {
    EXPECT_TRUE(broken && e.code() == errc::abandoned) << e.what();
  }
}

void act(setters& threads, std::uint64_t seed) {
  xoshiro256ss random(seed);
  for (std::uint64_t i = random.below(4); i < 4; ++i) {
    const std::uint64_t value = random();
    // The log would be full of what dropped promises were not set to.
    const bool dropped = random.below(3) == 0;
    const bool broken = !dropped && random.below(5) == 0;
    const bool followed = random.below(2) == 0;
    switch (random.below(3)) {
      case 0: one<std::uint64_t>(threads, value, dropped, broken, followed); break;
      // What would follow in a pool that is gone stays in memory.
      case 1: one<wide>(threads, value, dropped, broken, followed && !dropped); break;
      default: one<large>(threads, value, dropped, broken, followed && !dropped);
    }
  }
}

TEST(promises_stress, set_by_threads_while_pools_come_and_go) {
  stress::play_rounds([](std::uint64_t seed) {
    xoshiro256ss random(seed);
    setters threads(1 + static_cast<unsigned>(random.below(3)));
    for (int k = 0; k < 20; ++k) {
      pool_options options;
      options.workers = 1 + static_cast<unsigned>(random.below(3));
      options.most_stacks = 1024;
      options.before_ring_from_outside = delay;
      const std::uint64_t program = random();
      {
        std::optional<pool> p(std::in_place, options);
        p->run([&] { act(threads, program); });
      }
      ASSERT_EQ(g_inside.load(), 0) << "the pool has ended while a thread was about to ring one of its workers";
    }
  });
}

}  // namespace
}  // namespace shoal::sched

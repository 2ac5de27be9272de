// SPDX-License-Identifier: Apache-2.0
// Random mixtures of everything tasks do: spawn with all priorities, group and future waits, continuations, yields,
// mutexes, condition variables, latches, nested loops, wakes from other workers, exceptions; with 1 to 6 workers, and a
// thread that submits tasks and sets promises. Every task adds what it must to a sum that is known beforehand; a lost
// wake-up is a test that does not end. How long, and with which seed: stress/rounds.hpp.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <iostream>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "sched/pool.hpp"
#include "shoal/detail/loop_space.hpp"
#include "shoal/future.hpp"
#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "stress/rounds.hpp"

namespace shoal::sched {
namespace {

constexpr int k_answer = 42;

struct shared_state {
  // A promise for the thread beside the pool, which sets it.
  future<int> ask() {
    promise<int> question;
    auto answer = question.get_future();
    const std::lock_guard hold(asking);
    asked.push_back(std::move(question));
    return answer;
  }
  // Returns false when there was none.
  bool answer() {
    std::vector<promise<int>> all;
    {
      const std::lock_guard hold(asking);
      all.swap(asked);
    }
    for (promise<int>& one : all) one.set_value(k_answer);
    return !all.empty();
  }

  std::atomic<std::uint64_t> sum{0};  // what all tasks have done
  mutex locks[3];
  std::uint64_t guarded[3] = {};  // under the lock of the same number
  semaphore tokens{2};
  std::mutex asking;  // held for a moment, never over a wait
  std::vector<promise<int>> asked;
};

template <class F>
void run_chunks(const void* body, detail::loop_frame& frame) {
  while (detail::next_chunk(frame)) detail::each_position<false>(frame, *static_cast<const F*>(body));
}

template <class F>
void loop_here(std::uint64_t n, std::uint64_t grain, const F& body) {
  detail::local_loop loop;
  loop.body = &body;
  loop.piece = run_chunks<F>;
  loop.grain = grain;
  detail::run_loop_here(loop, 0, n);
}

// A task produces 1 to `last` in a place that holds one number; another one takes them. Returns 0 if all came.
std::uint64_t handed_over(std::uint64_t last) {
  mutex lock;
  condition_variable changed;
  std::uint64_t place = 0;  // 0: empty
  std::uint64_t sum = 0;
  parallel_invoke(
      [&] {
        for (std::uint64_t i = 1; i <= last; ++i) {
          std::unique_lock hold(lock);
          changed.wait(hold, [&] { return place == 0; });
          place = i;
          changed.notify_all();
        }
      },
      [&] {
        for (std::uint64_t i = 1; i <= last; ++i) {
          std::unique_lock hold(lock);
          changed.wait(hold, [&] { return place != 0; });
          sum += std::exchange(place, 0);
          changed.notify_one();
        }
      });
  return sum - last * (last + 1) / 2;
}

struct submitted_act final : errand {
  shared_state* state = nullptr;
  latch* done = nullptr;
  std::atomic<std::uint64_t>* added = nullptr;
  std::uint64_t seed = 0;
};

// Does one random thing, and returns how much it has added in all, children included. The same seed does the same.
std::uint64_t act(shared_state& s, std::uint64_t seed, unsigned depth) {
  xoshiro256ss random(seed);
  std::uint64_t added = 1;
  s.sum.fetch_add(1, std::memory_order_relaxed);
  const auto child = [&](std::uint64_t i) { return act(s, splitmix64::at(seed, i), depth - 1); };
  const std::uint64_t what = random.below(depth == 0 ? 4 : 15);
  switch (what) {
    case 0:
      for (std::uint64_t i = random.below(4); i > 0; --i) yield();
      break;
    case 1: {
      const std::uint64_t l = random.below(3);
      const bool waits = random.below(2) == 0;
      const std::lock_guard hold(s.locks[l]);
      const std::uint64_t seen = s.guarded[l];
      if (waits) yield();
      s.guarded[l] = seen + 1;
      break;
    }
    case 2:
      s.tokens.acquire();
      yield();
      s.tokens.release();
      break;
    case 3: poll(); break;
    case 4:
    case 5: {
      task_group group;
      std::atomic<std::uint64_t> below{0};
      for (std::uint64_t i = random.below(6); i > 0; --i)
        group.run([&, i] { below.fetch_add(child(i), std::memory_order_relaxed); });
      if (random.below(2) == 0) yield();
      group.wait();
      added += below.load();
      break;
    }
    case 6: {
      std::uint64_t left = 0;
      std::uint64_t right = 0;
      parallel_invoke([&] { left = child(1); }, [&] { right = child(2); });
      added += left + right;
      break;
    }
    case 7: {
      std::atomic<std::uint64_t> below{0};
      loop_here(random.below(12), 1 + random.below(4),
                [&](std::uint64_t i) { below.fetch_add(child(i), std::memory_order_relaxed); });
      added += below.load();
      break;
    }
    case 8: {
      auto one = async([&] { return child(1); });
      auto two = async([&] { return child(2); });
      added += one.get() + two.get();
      break;
    }
    case 9: {
      // A tree of tasks of one group, each of which begins the next ones.
      task_group group;
      std::atomic<std::uint64_t> below{0};
      const std::function<void(std::uint64_t, unsigned)> grow = [&](std::uint64_t node, unsigned height) {
        if (node % 3 == 0) below.fetch_add(child(node), std::memory_order_relaxed);
        if (height == 0) return;
        for (const std::uint64_t next : {2 * node, 2 * node + 1})
          group.run([&, next, height] { grow(next, height - 1); });
      };
      grow(1, static_cast<unsigned>(random.below(4)));
      group.wait();
      added += below.load();
      break;
    }
    case 10: {
      const std::uint64_t more = random.below(100);
      auto one = async([&] { return child(1); }).then([more](std::uint64_t a) { return a + more; });
      auto two = async([&] { return child(2); });
      if (random.below(2) == 0) yield();
      auto both = when_all(std::move(one), std::move(two)).then([more](std::tuple<std::uint64_t, std::uint64_t> got) {
        return std::get<0>(got) + std::get<1>(got) - more;
      });
      added += both.get();
      break;
    }
    case 11: added += handed_over(1 + random.below(8)); break;
    case 12: {
      constexpr priority k_all[] = {priority::high, priority::normal, priority::low, priority::background};
      task_group group;
      std::atomic<std::uint64_t> below{0};
      for (std::uint64_t i = random.below(6); i > 0; --i)
        group.run(k_all[random.below(4)], [&, i] { below.fetch_add(child(i), std::memory_order_relaxed); });
      group.wait();
      added += below.load();
      break;
    }
    case 13: {
      auto result = s.ask();
      added += child(1);
      EXPECT_EQ(result.get(), k_answer);
      break;
    }
    default: {
      // A meeting of tasks on whichever workers, and an exception on the way out.
      constexpr std::uint64_t k_met = 3;
      latch met(k_met);
      task_group group;
      for (std::uint64_t i = 0; i < k_met; ++i)
        group.run([&, i] {
          met.arrive_and_wait();
          if (i == 1) throw std::runtime_error("expected");
        });
      try {
        group.wait();
        ADD_FAILURE() << "the exception was lost";
      } catch (const std::runtime_error&) {
        yield();  // with the exception in flight
      }
    }
  }
  return added;
}

// A thread that is no worker: submits tasks and answers questions until the end.
class beside {
public:
  beside(pool& p, shared_state& s, std::uint64_t seed) : pool_(p), state_(s), acts_(k_acts) {
    for (std::size_t i = 0; i < k_acts; ++i) {
      submitted_act& a = acts_[i];
      a.state = &s;
      a.done = &done_;
      a.added = &added_;
      a.seed = splitmix64::at(seed, 1000 + i);
      a.run = [](detail::task& t) noexcept {
        auto& self = static_cast<submitted_act&>(static_cast<errand&>(t));
        latch& done = *self.done;
        self.added->fetch_add(act(*self.state, self.seed, 3), std::memory_order_relaxed);
        done.count_down();
      };
    }
    thread_ = std::thread([this] { work(); });
  }
  ~beside() {
    ends_.store(true);
    thread_.join();
  }
  /// Waits for the submitted tasks; of a task. Returns what they have added.
  std::uint64_t wait() {
    done_.wait();
    return added_.load();
  }

private:
  static constexpr std::size_t k_acts = 8;
  void work() {
    std::size_t next = 0;
    while (!ends_.load()) {
      if (next < k_acts) pool_.submit(acts_[next++]);
      if (!state_.answer()) std::this_thread::yield();
    }
    while (next < k_acts) pool_.submit(acts_[next++]);
  }
  pool& pool_;
  shared_state& state_;
  std::vector<submitted_act> acts_;
  latch done_{k_acts};
  std::atomic<std::uint64_t> added_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

TEST(sched_stress, mixtures_of_everything_add_up) {
  std::uint64_t tasks = 0;
  stress::play_rounds([&](std::uint64_t seed) {
    xoshiro256ss random(seed);
    pool_options options;
    options.workers = 1 + static_cast<unsigned>(random.below(6));
    options.most_stacks = std::size_t{1} << 14;
    options.spin_rounds = static_cast<unsigned>(random.below(50));
    pool p(options);
    shared_state s;
    std::uint64_t expected = 0;
    p.run([&] {
      beside other(p, s, seed);
      for (std::uint64_t i = 0; i < 40; ++i) expected += act(s, splitmix64::at(seed, i), 4);
      expected += other.wait();
    });
    ASSERT_EQ(s.sum.load(), expected);
    for (unsigned i = 0; i < p.size(); ++i) ASSERT_EQ(p.at(i).stacks_in_use(), 0U) << "worker " << i;
    tasks += expected;
  });
  std::cout << tasks << " steps\n";
}

}  // namespace
}  // namespace shoal::sched

// SPDX-License-Identifier: Apache-2.0
// Movable tasks that wait in every way, on more workers than processors, while the workers take them from one another.
// This file is compiled with optimisation: it is also the litmus test for what compilers keep of thread-local variables
// over a wait. After each wait, inlined code must find the worker that runs the task.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "sched/pool.hpp"
#include "shoal/future.hpp"
#include "shoal/movable.hpp"
#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "stress/rounds.hpp"

namespace shoal {
namespace {

// The worker of this thread, by a function that no compiler looks into.
[[gnu::noinline]] detail::worker_base* current_worker() {
  asm volatile("" ::: "memory");
  return detail::t_worker;
}

struct counted {
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> moves{0};
};

// Inlined code reads the worker before and after each wait, in a loop, as the library's headers do.
std::uint64_t wait_and_look(counted& all, semaphore& go, int times) {
  std::uint64_t sum = 0;
  detail::worker_base* before = detail::t_worker;
  for (int i = 0; i < times; ++i) {
    sum += detail::worker_here().index;
    go.acquire();
    detail::worker_base* const after = detail::t_worker;
    if (after != current_worker() || after->index != detail::worker_here().index) ++all.wrong;
    if (after != before) ++all.moves;
    before = after;
  }
  return sum;
}

void look_while_moving(unsigned workers) {
  sched::pool_options options;
  options.workers = workers;
  sched::pool p(options);
  counted all;
  static constexpr int k_tasks = 50, k_waits = 200;
  p.run([&] {
    semaphore go(0);
    task_group group;
    std::atomic<std::uint64_t> sum{0};
    for (int i = 0; i < k_tasks; ++i) group.run(movable, [&] { sum += wait_and_look(all, go, k_waits); });
    task_group wakers;
    for (unsigned w = 0; w < workers; ++w)
      wakers.run([&go, workers, w] {
        const int mine = k_tasks * k_waits / static_cast<int>(workers) +
                         (w < static_cast<unsigned>(k_tasks * k_waits) % workers ? 1 : 0);
        for (int i = 0; i < mine; ++i) {
          go.release();
          if (i % 8 == 0) yield();
        }
      });
    wakers.wait();
    group.wait();
  });
  EXPECT_EQ(all.wrong.load(), 0U);
  if (workers > 1) std::cout << "moves: " << all.moves.load() << '\n';
}

TEST(movable_stress, inlined_code_finds_the_worker_after_each_wait) {
  for (const unsigned workers : {1U, 2U, 4U, 7U}) look_while_moving(workers);
}

struct shared {
  mutex lock;
  condition_variable changed;
  semaphore permits{3};
  std::uint64_t value = 0;
};

// A tree of movable and ordinary tasks that wait for one another, for locks and for promises set by other tasks.
void wait_in_all_ways(shared& s, std::uint64_t seed, unsigned depth) {
  const std::uint64_t r = mix64(seed);
  {
    s.permits.acquire();
    const std::lock_guard hold(s.lock);
    ++s.value;
    s.changed.notify_one();
  }
  s.permits.release();
  if (depth == 0) return;
  task_group group;
  auto p = std::make_shared<promise<std::uint64_t>>();
  auto f = p->get_future();
  const auto below = [&s, r, depth](unsigned i) { wait_in_all_ways(s, r + i, depth - 1); };
  group.run(movable, [&below, p, r] {
    below(1);
    p->set_value(r);
  });
  if (r % 2 == 0)
    group.run([&below] { below(2); });
  else
    group.run(movable, [&below] { below(2); });
  auto third = async(movable, [&below, r] {
    below(3);
    return r;
  });
  if (r % 3 == 0) {
    std::unique_lock hold(s.lock);
    const std::uint64_t seen = s.value;
    while (s.value == seen && !f.ready()) {
      hold.unlock();
      yield();
      hold.lock();
    }
  }
  EXPECT_EQ(f.get(), r);
  if (r % 5 == 0) parallel_invoke([&below] { below(4); }, [&below] { below(5); });
  group.wait();
  EXPECT_EQ(third.get(), r);
}

TEST(movable_stress, waits_of_all_kinds) {
  stress::play_rounds([](std::uint64_t seed) {
    sched::pool_options options;
    options.workers = 1 + static_cast<unsigned>(seed % 5);
    options.most_stacks = std::size_t{1} << 13;
    sched::pool p(options);
    p.run([seed] {
      shared s;
      task_group group;
      for (unsigned i = 0; i < 4; ++i) group.run(movable, [&s, seed, i] { wait_in_all_ways(s, seed + i, 5); });
      group.wait();
    });
  });
}

TEST(movable_stress, woken_by_threads_while_they_leave) {
  stress::play_rounds([](std::uint64_t seed) {
    sched::pool_options options;
    options.workers = 1 + static_cast<unsigned>(seed % 3);
    sched::pool p(options);
    constexpr int k_tasks = 64;
    std::vector<std::unique_ptr<promise<int>>> promises(k_tasks);
    std::atomic<int> made{0};
    std::thread setter([&] {
      for (int i = 0; i < k_tasks; ++i) {
        while (made.load() <= i) std::this_thread::yield();
        promises[static_cast<std::size_t>(i)]->set_value(i);
      }
    });
    p.run([&] {
      std::vector<future<int>> all;
      for (int i = 0; i < k_tasks; ++i) {
        auto& one = promises[static_cast<std::size_t>(i)];
        one = std::make_unique<promise<int>>();
        all.push_back(
            async(movable, [value = std::make_shared<future<int>>(one->get_future())] { return value->get(); }));
        if ((seed >> (i % 60)) % 2 == 0) yield();
        ++made;
      }
      for (int i = 0; i < k_tasks; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), i);
    });
    setter.join();
  });
}

}  // namespace
}  // namespace shoal

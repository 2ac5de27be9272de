// SPDX-License-Identifier: Apache-2.0
#include "sched/worker.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

struct told_errand final : errand {
  latch* done = nullptr;
  unsigned wanted = 0;
  std::atomic<int>* elsewhere = nullptr;
};

// An errand is for one worker: no thief may have it, even if the worker is busy for long.
TEST(worker, errands_run_on_the_worker_they_were_given_to) {
  run_pool(3, [] {
    constexpr int k_rounds = 2000;
    std::atomic<int> elsewhere{0};
    for (int round = 0; round < k_rounds; ++round) {
      latch done(3);
      std::vector<told_errand> errands(3);
      for (unsigned w = 0; w < 3; ++w) {
        told_errand& e = errands[w];
        e.done = &done;
        e.wanted = w;
        e.elsewhere = &elsewhere;
        e.run = [](detail::task& t) noexcept {
          auto& self = static_cast<told_errand&>(static_cast<errand&>(t));
          if (detail::t_worker->index != self.wanted) self.elsewhere->fetch_add(1);
          self.done->count_down();
        };
        this_worker()->owner().at(w).give_errand(e);
      }
      done.wait();
    }
    EXPECT_EQ(elsewhere.load(), 0);
  });
}

struct told_place final : placed_task {
  latch* met = nullptr;
  latch* done = nullptr;
  unsigned wanted = 0;
  std::atomic<int>* elsewhere = nullptr;
};

// What is placed is for one worker as well, though it waits.
TEST(worker, placed_tasks_run_on_their_worker_and_may_wait) {
  run_pool(3, [] {
    constexpr int k_rounds = 1000;
    constexpr unsigned k_each = 3;
    std::atomic<int> elsewhere{0};
    for (int round = 0; round < k_rounds; ++round) {
      latch met(3 * k_each);
      latch done(3 * k_each);
      std::vector<told_place> tasks(3 * k_each);
      for (unsigned i = 0; i < tasks.size(); ++i) {
        told_place& t = tasks[i];
        t.met = &met;
        t.done = &done;
        t.wanted = i % 3;
        t.elsewhere = &elsewhere;
        t.run = [](detail::task& raw) noexcept {
          auto& self = static_cast<told_place&>(static_cast<placed_task&>(raw));
          if (detail::t_worker->index != self.wanted) self.elsewhere->fetch_add(1);
          yield();
          if (detail::t_worker->index != self.wanted) self.elsewhere->fetch_add(1);
          self.met->arrive_and_wait();  // all of them wait at once
          self.done->count_down();
        };
        this_worker()->owner().at(t.wanted).place(t);
      }
      done.wait();
    }
    EXPECT_EQ(elsewhere.load(), 0);
  });
}

TEST(worker, begins_what_is_placed_first_and_what_is_kept_last) {
  run_pool(1, [] {
    struct record {
      void note(int name) {
        const std::size_t at = count.load(std::memory_order_acquire);
        order.at(at) = name;
        count.store(at + 1, std::memory_order_release);
      }
      std::array<int, 5> order{};
      std::atomic<std::size_t> count{0};
    } record;
    struct named final : placed_task {
      struct record* record = nullptr;
      int name = 0;
    };
    named tasks[4];
    for (int i = 0; i < 4; ++i) {
      tasks[i].record = &record;
      tasks[i].name = i;
      tasks[i].run = [](detail::task& raw) noexcept {
        auto& self = static_cast<named&>(static_cast<placed_task&>(raw));
        self.record->note(self.name);
      };
    }
    task_group group;
    group.run([&record] { record.note(10); });
    for (int i : {0, 1}) this_worker()->keep(tasks[i]);
    for (int i : {2, 3}) this_worker()->place(tasks[i]);
    while (record.count.load() < 5) yield();
    group.wait();
    EXPECT_EQ(record.order, (std::array<int, 5>{2, 3, 10, 1, 0}));
  });
}

TEST(worker, what_is_placed_wakes_its_worker) {
  run_pool(2, [] {
    for (int round = 0; round < 50; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(round % 3));  // time to fall asleep
      struct waking final : placed_task {
        detail::suspended* waiter = nullptr;
      } t;
      t.waiter = detail::this_task();
      t.run = [](detail::task& raw) noexcept {
        detail::wake(static_cast<waking&>(static_cast<placed_task&>(raw)).waiter);
      };
      this_worker()->owner().at(1).place(t);
      detail::leave();
    }
  });
}

TEST(worker, a_wake_before_the_task_has_left_is_not_lost) {
  run_pool(1, [] {
    for (int i = 0; i < 100; ++i) {
      detail::suspended* me = detail::this_task();
      detail::wake(me);
      detail::leave();
    }
  });
}

TEST(worker, a_wake_from_another_worker_reaches_a_parked_one) {
  run_pool(2, [] {
    constexpr int k_rounds = 50;
    std::atomic<detail::suspended*> sleeper{nullptr};
    std::atomic<int> woken{0};
    std::atomic<bool> begun{false};
    task_group group;
    group.run([&] {
      EXPECT_NE(detail::t_worker->index, 0U);
      begun.store(true);
      for (int i = 0; i < k_rounds; ++i) {
        detail::suspended* s = nullptr;
        while ((s = sleeper.exchange(nullptr)) == nullptr) yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // long enough for the sleeper's worker to park
        detail::wake(s);
      }
    });
    while (!begun.load()) std::this_thread::yield();  // keeps this worker, so that the other one takes the task
    for (int i = 0; i < k_rounds; ++i) {
      sleeper.store(detail::this_task());
      detail::leave();
      woken.fetch_add(1);
    }
    group.wait();
    EXPECT_EQ(woken.load(), k_rounds);
  });
}

// What another node takes is what a thief would take; put back as an arrived task it runs all the same.
TEST(worker, gives_up_its_oldest_task) {
  run_pool(1, [] {
    // Read before the tasks are joined.
    std::array<std::atomic<int>, 3> order{};
    std::atomic<unsigned> ran{0};
    task_group group;
    for (int i = 0; i < 3; ++i) group.run([&order, &ran, i] { order[ran.fetch_add(1)] = i; });
    worker& w = *this_worker();
    EXPECT_EQ(w.load(), 3U);
    detail::task* const oldest = w.give_up();
    ASSERT_NE(oldest, nullptr);
    EXPECT_EQ(w.load(), 2U);
    while (w.load() > 0) yield();
    EXPECT_EQ(ran, 2U);
    EXPECT_EQ(w.give_up(), nullptr);
    detail::arrive(w, *oldest);
    EXPECT_EQ(w.load(), 1U);
    group.wait();
    ASSERT_EQ(ran, 3U);
    EXPECT_EQ(order.back(), 0);
  });
}

struct counting_source final : work_source {
  void seek(worker&) noexcept override { ++sought; }
  void tend(worker&) noexcept override { ++tended; }
  std::atomic<int> sought{0};
  std::atomic<int> tended{0};
};

TEST(worker, asks_the_source_of_work_when_it_has_none_and_tends_it_while_busy) {
  counting_source source;
  pool p({.workers = 2});
  p.use(source);
  p.run([&source] {
    while (source.sought == 0 || source.tended == 0) yield();
  });
}

TEST(worker, counts_what_it_did) {
  pool_options options;
  options.workers = 1;
  pool p(options);
  p.run([] {
    task_group group;
    for (int i = 0; i < 10; ++i) group.run([] { yield(); });
    group.wait();
  });
  EXPECT_EQ(p.at(0).spawned(), 10U);
  EXPECT_GE(p.at(0).counts().left, 10U);
  EXPECT_EQ(p.at(0).counts().stolen, 0U);
  EXPECT_EQ(p.at(0).stacks_in_use(), 0U);
}

// The hooks see each phase: polled while busy, flushed and asked before sleeping.
TEST(worker, polls_while_tasks_yield_and_flushes_before_it_parks) {
  struct counting final : pool_hooks {
    std::atomic<int> polls{0}, flushes{0}, asked{0};
    bool poll(worker&) noexcept override { return polls.fetch_add(1), false; }
    bool flush(worker&) noexcept override {
      flushes.fetch_add(1);
      return false;
    }
    bool pending(worker&) noexcept override { return asked.fetch_add(1), false; }
  } above;
  run_pool(
      1,
      [&above] {
        task_group group;
        for (int i = 0; i < 2; ++i)
          group.run([] {
            for (int k = 0; k < 5000; ++k) yield();
          });
        group.wait();
        EXPECT_GE(above.polls.load(), 10);
        // Nobody is ready: the worker looks around, flushes, and sleeps until the other thread wakes the task.
        detail::suspended* me = detail::this_task();
        std::thread waker([me] {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          detail::wake(me);
        });
        detail::leave();
        waker.join();
      },
      &above);
  EXPECT_GE(above.flushes.load(), 1);
  EXPECT_GE(above.asked.load(), 1);
}

// 4 KiB a call: touches `pages` pages of the stack, and waits there.
[[gnu::noinline]] int wait_deep_down(int pages, latch& gate) {
  volatile char page[4096];
  page[0] = static_cast<char>(pages);
  asm volatile("" : : "r"(page) : "memory");  // compilers leave out what nobody uses
  const int below = pages > 0 ? wait_deep_down(pages - 1, gate) : (gate.wait(), 0);
  return below + page[0];
}

std::size_t resident_pages() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident;
}

// A worker that never idles gives back what a peak of waiting tasks has left.
TEST(worker, stacks_of_a_peak_are_given_back_while_it_is_busy) {
  constexpr std::size_t k_tasks = 1500;
  constexpr int k_depth = 5;
#if SHOAL_TSAN || SHOAL_ASAN
  GTEST_SKIP() << "the sanitizer's own memory of a stack's pages stays";
#endif
  run_pool(1, [] {
    const std::size_t before = resident_pages();
    latch gate(1);
    task_group peak;
    for (std::size_t i = 0; i < k_tasks; ++i) peak.run([&gate] { wait_deep_down(k_depth, gate); });
    while (resident_pages() < before + k_tasks * k_depth) yield();
    gate.count_down();
    peak.wait();
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::size_t after = resident_pages();
    while (after > before + k_tasks * k_depth / 2 && std::chrono::steady_clock::now() < give_up) {
      for (int i = 0; i < 1000; ++i) yield();
      after = resident_pages();
    }
    EXPECT_LE(after, before + k_tasks * k_depth / 2);
  });
}

}  // namespace
}  // namespace shoal::sched

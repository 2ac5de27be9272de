// SPDX-License-Identifier: Apache-2.0
// shoal::detail::shared_lock_core on the simulated memory, with a queue whose waiters sleep on simulated futexes. Writers
// exclude everybody, no wake-up is lost, and the last one that unlocks may destroy the lock. Every weaker order in
// shared_word.hpp must fail, and so must words with other rules.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/explorer/explorer.hpp"
#include "shoal/detail/shared_lock.hpp"

namespace shoal::model {
namespace {

// As detail::wait_list, of which it has what shared_lock_core uses; a limit is one that comes at any moment.
class model_list {
public:
  struct waiter {
    bool shared = false;
    bool granted = false;
    bool goes_first = false;
    waiter* next = nullptr;
    model_atomic<int> woken{0};
  };

  void lock() {
    while (held_.exchange(1, std::memory_order_acquire) != 0) execution::current().give_way();
  }
  void unlock() { held_.store(0, std::memory_order_release); }
  bool empty() { return first_.read() == nullptr; }
  waiter* first() { return first_.read(); }
  waiter* pop() {
    waiter* const w = first_.read();
    first_.write(w->next);
    return w;
  }
  waiter* take(std::ptrdiff_t& most) {
    waiter* const taken = first_.read();
    waiter* rest = taken;
    waiter* last = nullptr;
    for (; most > 0 && rest != nullptr; --most, rest = rest->next) last = rest;
    if (last == nullptr) return nullptr;
    last->next = nullptr;
    first_.write(rest);
    return taken;
  }
  void wait(waiter& me, detail::wait_kind, const void*) {
    push(me);
    unlock();
    sleep(me);
  }
  struct at_any_moment {
    bool is_past() { return true; }  // when woken in vain
  };
  bool wait_until(waiter& me, at_any_moment, const void* object, bool (*give_up)(const void*, waiter&) noexcept) {
    push(me);
    unlock();
    for (int look = 0; look < 2; ++look) {
      if (me.woken.load(std::memory_order_acquire) != 0) {
        me.woken.store(0, std::memory_order_relaxed);
        return true;
      }
      execution::current().give_way();
    }
    lock();
    const bool gone = give_up(object, me);
    unlock();
    if (gone) return false;
    sleep(me);
    return true;
  }
  static void wake_all(waiter* w) {
    while (w != nullptr) {
      waiter* const next = w->next;
      w->woken.store(1, std::memory_order_release);
      w->woken.futex_wake_one();
      w = next;
    }
  }

  bool remove(const waiter& w) {
    waiter* at = first_.read();
    if (at == &w) {
      first_.write(w.next);
      return true;
    }
    while (at != nullptr && at->next != &w) at = at->next;
    if (at != nullptr) at->next = w.next;
    return at != nullptr;
  }

private:
  static void sleep(waiter& me) {
    while (me.woken.load(std::memory_order_acquire) == 0) me.woken.futex_wait(0);
    me.woken.store(0, std::memory_order_relaxed);
  }
  void push(waiter& w) {
    waiter* at = first_.read();
    w.next = w.goes_first ? at : nullptr;
    if (w.goes_first) return first_.write(&w);
    if (at == nullptr) return first_.write(&w);
    while (at->next != nullptr) at = at->next;
    at->next = &w;
  }
  model_atomic<int> held_{0};
  model_plain<waiter*> first_{nullptr};
};

using lock_type = detail::shared_lock_core<model_list, detail::shared_word<model_atomics, 1>>;

struct shared_table {
  std::optional<lock_type> lock{std::in_place};
  model_plain<int> value{0};
  model_plain<int> users;  // under the lock
  explicit shared_table(int n) : users(n) {}

  void write() {
    lock->lock(false);
    change();
    lock->unlock(false);
  }
  void change() { value.write(value.read() + 1); }
  void read() {
    lock->lock(true);
    check(value.read() >= 0, "readers and writers exclude each other");
    lock->unlock(true);
  }
  // Whoever finds that it is the last user destroys the lock as soon as it has unlocked it.
  void leave() {
    lock->lock(false);
    users.write(users.read() - 1);
    const bool last = users.read() == 0;
    lock->unlock(false);
    if (last) lock.reset();
  }
};

// What each thread does: w writes, r reads, l writes if it gets the lock in time.
scenario meets(std::vector<std::string> threads) {
  return [threads = std::move(threads)](execution& run) {
    auto t = std::make_shared<shared_table>(static_cast<int>(threads.size()));
    for (const std::string& does : threads)
      run.thread(does.c_str(), [t, does] {
        for (const char what : does) {
          if (what == 'w') t->write();
          if (what == 'r') t->read();
          if (what == 'l' && t->lock->lock_until(false, model_list::at_any_moment{})) {
            t->change();
            t->lock->unlock(false);
          }
        }
        t->leave();
      });
  };
}

TEST(shared_mutex, all_executions_of_two_threads_with_few_preemptions) {
  for (const auto& threads : std::vector<std::vector<std::string>>{{"w", "w"}, {"w", "r"}, {"l", "w"}, {"l", "r"}}) {
    const outcome o = explore(meets(threads), systematically(2));
    EXPECT_FALSE(o.failed) << threads[0] << threads[1] << ": " << o;
    EXPECT_TRUE(o.complete) << o;
  }
}

TEST(shared_mutex, random_executions_of_more) {
  for (const auto& threads : std::vector<std::vector<std::string>>{{"wr", "rw"},
                                                                   {"r", "r", "w"},
                                                                   {"w", "w", "r"},
                                                                   {"r", "l", "r"},
                                                                   {"l", "l", "w"},
                                                                   {"rr", "w", "r", "w"},
                                                                   {"ww", "ww", "lr"},
                                                                   {"rw", "rl", "wr"}}) {
    const outcome o = explore(meets(threads), randomly(20'000));
    EXPECT_FALSE(o.failed) << threads[0] << " " << threads[1] << ": " << o;
  }
}

TEST(shared_mutex, every_weaker_order_is_found_out) {
  const mutant_report mutants = try_mutants(
      {meets({"w", "w"}), meets({"w", "r"}), meets({"r", "w", "r"}), meets({"w", "w", "r"}), meets({"rw", "wr"}),
       meets({"l", "r", "w"}), meets({"w", "l", "r", "r"}), meets({"r", "l", "r", "w"})},
      "shared_word.hpp", randomly(40'000));
  EXPECT_EQ(mutants.tried, 3U);
  EXPECT_EQ(mutants.alive, std::vector<std::string>{});
}

}  // namespace
}  // namespace shoal::model

// SPDX-License-Identifier: Apache-2.0
// A shared mutex over a queue of waiters: how the word (shared_word.hpp) and the queue go together. `List` is wait_list in
// production; the model test brings one on simulated memory.
// Who may call: as shoal/shared_mutex.hpp says. lock() and lock_until() may switch tasks.
// Guarantees: those of shared_word.hpp. Tests: tests/unit/sched/shared_mutex_test.cpp, model: tests/model/shared_mutex_test.cpp.
#pragma once

#include <utility>

#include "shoal/detail/shared_word.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {

template <class List, class Atomics = lockfree::std_atomics>
class shared_lock_core {
public:
  using waiter = typename List::waiter;

  bool try_lock(bool shared) { return shared ? word_.enter_shared() : word_.enter(); }
  void lock(bool shared) {
    if (!try_lock(shared)) [[unlikely]]
      lock_slowly(shared);
  }
  void unlock(bool shared) {
    if (shared ? word_.leave_shared() : word_.leave()) [[unlikely]]
      grant();
  }
  template <class Limit>
  bool lock_until(bool shared, Limit until) {
    if (try_lock(shared)) return true;
    if (until.is_past()) return false;
    waiters_.lock();
    if (enter_guarded(shared)) {
      waiters_.unlock();
      return true;
    }
    waiter me;
    me.shared = shared;
    return waiters_.wait_until(me, until, this, give_up);
  }

  bool held(bool shared) const { return shared ? word_.held_shared() : word_.held(); }

private:
  [[gnu::noinline]] void lock_slowly(bool shared) {
    waiters_.lock();
    if (enter_guarded(shared)) return waiters_.unlock();
    waiter me;
    me.shared = shared;
    waiters_.wait(me, wait_kind::shared_mutex, this);
  }
  // With the guard held: whether the caller has the lock; else it queues.
  bool enter_guarded(bool shared) { return waiters_.empty() && word_.enter_or_queue(shared); }
  // With the guard held: takes out those that have the lock now, a writer or the readers up to the next writer.
  waiter* take_granted() {
    waiter* granted = nullptr;
    waiter** end = &granted;
    while (waiter* const w = waiters_.first()) {
      if (!(w->shared ? word_.grant_shared() : word_.grant())) break;
      waiters_.pop();
      *end = w;
      end = &w->next;
      if (!w->shared) break;
    }
    *end = nullptr;
    if (waiters_.empty()) word_.close_queue();
    return granted;
  }
  [[gnu::noinline]] void grant() {
    waiters_.lock();
    waiter* const granted = take_granted();
    waiters_.unlock();
    List::wake_all(granted);
  }
  // With the guard held, when the limit of a waiter has come: whether it has gone. Where nobody holds the lock, the one that
  // had it is about to grant; the last waiter stays for that, so that nobody grants to an empty queue, perhaps of a mutex
  // that is no more. If a writer has gone, readers behind it may join those that hold the lock.
  static bool give_up(const void* raw, waiter& w) noexcept {
    auto& self = *static_cast<shared_lock_core*>(const_cast<void*>(raw));
    List& list = self.waiters_;
    if (list.first() == &w && w.next == nullptr && !self.word_.held() && !self.word_.held_shared()) return false;
    if (!list.remove(w)) return false;
    if (list.empty())
      self.word_.close_queue();
    else if (self.word_.held_shared())
      List::wake_all(self.take_granted());
    return true;
  }

  shared_word<Atomics> word_;
  List waiters_;
};

}  // namespace shoal::detail

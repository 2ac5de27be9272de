// SPDX-License-Identifier: Apache-2.0
// A shared mutex over a queue of waiters: how the word (shared_word.hpp) and the queue go together. `List` is wait_list in
// production; the model test brings one on simulated memory.
// Who may call: as shoal/shared_mutex.hpp says. lock() and lock_until() may switch tasks.
// Guarantees: those of shared_word.hpp. Tests: tests/unit/sched/shared_mutex_test.cpp, model: tests/model/shared_mutex_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shoal/detail/shared_word.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {

template <class List, class Word = shared_word<>>
class shared_lock_core {
public:
  using waiter = typename List::waiter;

  bool try_lock(bool shared) { return word_.enter(shared); }
  void lock(bool shared) {
    if (!word_.enter(shared)) [[unlikely]]
      lock_slowly(shared);
  }
  void unlock(bool shared) {
    if (word_.leave(shared)) [[unlikely]]
      serve();
  }
  template <class Limit>
  bool lock_until(bool shared, Limit until) {
    if (word_.enter(shared)) return true;
    waiter me;
    me.shared = shared;
    waiters_.lock();
    if (word_.enter_or_queue(shared)) {
      waiters_.unlock();
      return true;
    }
    for (;;) {
      if (!waiters_.wait_until(me, until, this, give_up)) return false;
      const bool stays = !until.is_past();
      if (me.granted || come(me, stays)) return true;
      if (stays) continue;
      waiter* const along = take_joining();  // readers behind a writer that goes, while readers have the lock
      waiters_.unlock();
      List::wake_all(along);
      return false;
    }
  }

  bool held(bool shared) const { return word_.held(shared); }
  bool is_unused() const { return word_.is_unused(); }

private:
  [[gnu::noinline]] void lock_slowly(bool shared) {
    waiter me;
    me.shared = shared;
    waiters_.lock();
    if (word_.enter_or_queue(shared)) return waiters_.unlock();
    do {
      waiters_.wait(me, wait_kind::shared_mutex, this);
    } while (!me.granted && !come(me, true));
  }
  // The task that has been woken. True: it has the lock. False: the guard is held, and it waits again, or goes.
  bool come(waiter& me, bool stays) {
    waiters_.lock();
    if (!word_.come(me.shared, !waiters_.empty(), stays)) {
      me.goes_first = true;
      return false;
    }
    waiter* const along = me.shared ? take_joining() : nullptr;
    waiters_.unlock();
    List::wake_all(along);
    return true;
  }
  [[gnu::noinline]] void serve() {
    waiters_.lock();
    waiter* served = nullptr;
    if (word_.was_overtaken_enough()) {
      const bool shared = waiters_.first()->shared;
      const row front = first_in_row(shared);
      word_.grant(shared, front.length, front.more);
      served = take_granted(front.length);
    } else {
      served = waiters_.pop();
      served->next = nullptr;
      word_.call(!waiters_.empty());
    }
    waiters_.unlock();
    List::wake_all(served);
  }

  // The tasks at the front of the queue that can have the lock together.
  struct row {
    std::uint64_t length = 0;
    bool more = false;  // others are queued behind them
  };
  row first_in_row(bool shared) {
    row r;
    const waiter* w = waiters_.first();
    for (; w != nullptr && w->shared == shared && (shared || r.length == 0); w = w->next) ++r.length;
    r.more = w != nullptr;
    return r;
  }
  waiter* take_granted(std::uint64_t n) {
    auto most = static_cast<std::ptrdiff_t>(n);
    waiter* const granted = waiters_.take(most);
    for (waiter* w = granted; w != nullptr; w = w->next) w->granted = true;
    return granted;
  }
  // With the guard held: the readers at the front, if they can join others.
  waiter* take_joining() {
    const row front = first_in_row(true);
    return front.length != 0 && word_.join(front.length, front.more) ? take_granted(front.length) : nullptr;
  }
  // With the guard held, when the limit of a waiter has come: whether it has gone. The last one stays if somebody has the
  // duty, so that nobody serves an empty queue, perhaps of a mutex that is no more. If a writer has gone, readers behind it
  // may join those that have the lock.
  static bool give_up(const void* raw, waiter& w) noexcept {
    auto& self = *static_cast<shared_lock_core*>(const_cast<void*>(raw));
    List& list = self.waiters_;
    const bool last = list.first() == &w && w.next == nullptr;
    if (last && !self.word_.close_queue()) return false;
    if (!list.remove(w)) return false;
    if (!last) List::wake_all(self.take_joining());
    return true;
  }

  Word word_;
  List waiters_;
};

}  // namespace shoal::detail

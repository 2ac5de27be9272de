// SPDX-License-Identifier: Apache-2.0
// The word of a shared mutex: how many readers hold it, whether a writer does, whether tasks are queued, and whether the
// first of them has been woken and is coming. While nobody is queued, readers and writers only change the word. The one that
// releases the lock last while tasks are queued has the duty to serve them: it wakes the first, which tries again; meanwhile
// running tasks overtake, so that a lock held for a moment is not given to a task that has yet to be resumed. After
// k_most_overtakes of them the duty is to grant: the first in the queue has the lock before it is woken.
// Who may call: any task; functions that say so with the guard of the queue held. Does not switch.
// Guarantees: exactly one caller gets the duty, and until it has called or granted nobody enters and no queued task goes on; so
// none can destroy the mutex under it. Therefore a reader does not count itself before it knows that it may enter.
// Tests: tests/unit/sched/shared_mutex_test.cpp, model: tests/model/shared_mutex_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "shoal/detail/atomics.hpp"

namespace shoal::detail {

template <class Atomics = lockfree::std_atomics, std::uint64_t k_most_overtakes = 128>
class shared_word {
public:
  /// False: another task has the lock, or the turn of one that waits has come.
  bool enter(bool shared) {
    std::uint64_t seen = shared ? word_.load(std::memory_order_relaxed) : 0;
    while (is_open(shared, seen))
      if (word_.compare_exchange_weak(seen, entered(shared, seen), std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    return false;
  }
  /// True: the caller has the duty to serve the queue. Partners: whoever enters or is granted the lock next.
  bool leave(bool shared) {
    const std::uint64_t seen = word_.fetch_sub(hold(shared), std::memory_order_release);
    return (seen & (k_queue | k_coming)) == k_queue && (!shared || seen < 2 * k_reader);
  }

  /// For assertions, and as a hint.
  bool held(bool shared) const {
    const std::uint64_t seen = word_.load(std::memory_order_relaxed);
    return shared ? seen >= k_reader : (seen & k_writer) != 0;
  }
  /// Nobody has the lock, waits, or is coming.
  bool is_unused() const { return word_.load(std::memory_order_relaxed) == 0; }

  // --- with the guard held; `more`: tasks are queued, without the caller ---
  /// True if the lock is the caller's; else it has to queue: somebody holds the lock, has the duty, or is coming.
  bool enter_or_queue(bool shared) {
    return change([shared](std::uint64_t& word) {
      const bool open = is_open(shared, word);
      word = open ? entered(shared, word) : word | k_queue;
      return open;
    });
  }
  /// The same for the task that has been woken. If it does not get the lock, it is queued first, or goes, if not `stays`.
  bool come(bool shared, bool more, bool stays) {
    return change([=](std::uint64_t& word) {
      const bool free = is_free(shared, word);
      if (free)
        word = with_queue((word & ~(k_coming | k_overtakes)) + hold(shared), more);
      else
        word = with_queue(overtaken_in_vain(word) & ~k_coming, more || stays);
      return free;
    });
  }
  /// With the duty: whether the first is to have the lock before it is woken.
  bool was_overtaken_enough() const {
    return (word_.load(std::memory_order_relaxed) & k_overtakes) >= k_most_overtakes * k_overtake;
  }
  void grant(bool shared, std::uint64_t readers, bool more) {
    change([=](std::uint64_t& word) {
      word = with_queue(shared ? readers * k_reader : k_writer, more);
      return true;
    });
  }
  /// With the duty: the first will be woken, and come.
  void call(bool more) {
    change([=](std::uint64_t& word) {
      word = with_queue(word | k_coming, more);
      return true;
    });
  }
  /// Readers that are first in the queue join those that have the lock: false if none has it, or a task is coming.
  bool join(std::uint64_t readers, bool more) {
    return change([=](std::uint64_t& word) {
      if (word < k_reader || (word & k_coming) != 0) return false;
      word = with_queue(word + readers * k_reader, more);
      return true;
    });
  }
  /// The last in the queue goes: false if it has to stay, because somebody has the duty.
  bool close_queue() {
    return change([](std::uint64_t& word) {
      if ((word & (k_writer | k_coming)) == 0 && word < k_reader) return false;
      word = with_queue(word, false);
      return true;
    });
  }

private:
  static constexpr std::uint64_t k_writer = 1;
  static constexpr std::uint64_t k_queue = 2;
  static constexpr std::uint64_t k_coming = 4;
  static constexpr std::uint64_t k_overtake = 8;
  static constexpr std::uint64_t k_reader = 2048;
  static constexpr std::uint64_t k_overtakes = k_reader - k_overtake;
  static_assert(k_most_overtakes * k_overtake <= k_overtakes);

  static constexpr std::uint64_t hold(bool shared) { return shared ? k_reader : k_writer; }
  static bool is_free(bool shared, std::uint64_t word) { return (word & k_writer) == 0 && (shared || word < k_reader); }
  static bool is_open(bool shared, std::uint64_t word) {
    const bool my_turn = (word & (k_queue | k_coming)) == 0 ||
                         ((word & k_coming) != 0 && (word & k_overtakes) < k_most_overtakes * k_overtake);
    return is_free(shared, word) && my_turn;
  }
  static std::uint64_t entered(bool shared, std::uint64_t word) {
    return word + hold(shared) + ((word & k_coming) != 0 ? k_overtake : 0);
  }
  /// Who has come in vain will not come often.
  static std::uint64_t overtaken_in_vain(std::uint64_t word) {
    const std::uint64_t overtakes =
        std::min((word & k_overtakes) + (k_most_overtakes + 3) / 4 * k_overtake, k_most_overtakes * k_overtake);
    return (word & ~k_overtakes) | overtakes;
  }
  static std::uint64_t with_queue(std::uint64_t word, bool any) {
    if (any) return word | k_queue;
    return word & ~((word & k_coming) != 0 ? k_queue : k_queue | k_overtakes);
  }
  template <class Change>
  bool change(const Change& made) {
    for (std::uint64_t seen = word_.load(std::memory_order_relaxed);;) {
      std::uint64_t next = seen;
      const bool result = made(next);
      if (next == seen) return result;
      if (word_.compare_exchange_weak(seen, next, std::memory_order_acquire, std::memory_order_relaxed)) return result;
    }
  }
  typename Atomics::template atomic<std::uint64_t> word_{0};  // partners: all tasks that use the mutex
};

}  // namespace shoal::detail

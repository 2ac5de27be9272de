// SPDX-License-Identifier: Apache-2.0
// Which workers sleep: a bit for each, in groups of 64, and a summary in the sign that publishers read (wake_sign.hpp).
//   sleeper:   searching = park(slot, searching, bell, fence_all, look, sleep)
//   publisher: publish the work;  if (sign.on()) ring the bell of wake_one(near), unless that is k_nobody
//   searcher:  on finding work, and before it runs it: ring the bell of hand_on(near), unless that is k_nobody
// Guarantees: if threads publish while no worker searches, one takes a sleeper, which becomes a searcher.
// While one searches, publishers wake nobody. A search ends in one of three ways: the searcher hands it on to the next
// sleeper; there is no sleeper; or the searcher sleeps itself, fences for all threads and looks at all queues once
// more.
// So no work stays unseen while a worker sleeps. Each call costs the same for any number of workers up to k_most_slots.
// With `searches` false (workers that do not reach all others) nobody searches: the sign counts the sleepers, each
// sleeper fences and looks, each publisher wakes one. Only the functions given to park() may wait or make system calls.
// Shown by tests/unit/lockfree/sleeper_map_test.cpp, tests/model/parking_test.cpp.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include <shoal/detail/atomics.hpp>
#include <shoal/detail/wake_sign.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
class sleeper_map {
public:
  static constexpr unsigned k_group_slots = 64;
  static constexpr unsigned k_most_groups = 32;
  static constexpr unsigned k_most_slots = k_group_slots * k_most_groups;
  static constexpr unsigned k_nobody = ~0U;

  sleeper_map(wake_sign<Atomics>& sign, unsigned groups, bool searches)
      : sign_(sign), groups_(std::make_unique<group[]>(groups)), searches_(searches) {}

  bool searches() const { return searches_; }

  // Announces the sleeper, looks once more, sleeps. True: the caller is a searcher from now on. `searching`: whether it
  // was one until now. fence_all(): a fence on all threads. look(all): whether there is work, in all queues or only in
  // what others bring to this worker alone. sleep(): returns after the bell was rung.
  template <class Bell, class FenceAll, class Look, class Sleep>
  bool park(unsigned slot, bool searching, Bell& bell, const FenceAll& fence_all, const Look& look,
            const Sleep& sleep) {
    bell.prepare();
    const bool turned_on = announce(slot, searching);
    // If we turned the sign on, publishers that saw it off woke nobody: we fence and look at all queues. If it was on,
    // publishers wake a sleeper; if a worker searches, that worker looks at all queues before it sleeps.
    if (turned_on) fence_all();
    const bool found = look(turned_on);
    if (found)
      bell.cancel();
    else
      sleep();
    if (withdraw(slot)) return true;
    return found && turned_on && searches_ && begin_search();
  }

  // Takes a sleeper, preferably near the slot `near`, unless somebody searches.
  unsigned wake_one(unsigned near) { return begin_search() ? hand_on(near) : k_nobody; }

  // The caller ends its search; the sleeper that it gives is a searcher from now on.
  unsigned hand_on(unsigned near) {
    for (;;) {
      if (const unsigned slot = take(near); slot != k_nobody) return slot;
      // A worker that announced itself meanwhile relied on this searcher.
      if (sign_.word.fetch_add(k_searcher, std::memory_order_relaxed) + k_searcher <= 0 || !begin_search())
        return k_nobody;
    }
  }

  // The caller has seen work for others: one searcher more.
  unsigned wake_another(unsigned near) {
    sign_.word.fetch_add(-k_searcher, std::memory_order_relaxed);
    return hand_on(near);
  }

  // Without searches: takes a sleeper for whom may(slot) holds.
  template <class May>
  unsigned take_one_of(unsigned groups, const May& may) {
    for (unsigned g = 0; g < groups; ++g)
      for (std::uint64_t bits = groups_[g].sleeping.load(std::memory_order_acquire); bits != 0; bits &= bits - 1) {
        const unsigned slot = g * k_group_slots + static_cast<unsigned>(std::countr_zero(bits));
        if (may(slot) && clear(slot)) return slot;
      }
    return k_nobody;
  }

private:
  static constexpr std::int64_t k_searcher = std::int64_t{1} << k_most_groups;

  struct alignas(k_cache_line_bytes) group {
    typename Atomics::template atomic<std::uint64_t> sleeping{0};
  };

  static std::uint64_t bit(unsigned slot) { return std::uint64_t{1} << slot % k_group_slots; }
  static std::int64_t sign_bit(unsigned group) { return std::int64_t{1} << group; }

  // True: the sign was off and is on.
  bool announce(unsigned slot, bool searching) {
    const unsigned g = slot / k_group_slots;
    // Partner: clear(). The thread that clears the bit rings our bell; it must see bell.prepare().
    groups_[g].sleeping.fetch_or(bit(slot), std::memory_order_release);
    if (!searches_) {
      sign_.word.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    // Partner: take(). If it clears the group's bit later, it sees our slot; if earlier, this sets the bit again.
    const std::int64_t before = sign_.word.fetch_or(sign_bit(g), std::memory_order_release);
    if (!searching) return before == 0;
    return sign_.word.fetch_add(k_searcher, std::memory_order_relaxed) + k_searcher > 0;
  }

  // True: another thread has taken this sleeper: it is a searcher now. The bit in the sign stays until take() finds no
  // sleeper in the group. So a worker that is woken again and again, only by messages, executes the fence once.
  bool withdraw(unsigned slot) {
    const bool taken = !clear(slot);
    if (searches_) return taken;
    sign_.word.fetch_add(-1, std::memory_order_relaxed);
    return false;
  }

  // True: this call did it. Partner of the acquire: announce().
  bool clear(unsigned slot) {
    return (groups_[slot / k_group_slots].sleeping.fetch_and(~bit(slot), std::memory_order_acquire) & bit(slot)) != 0;
  }

  bool begin_search() {
    std::int64_t word = sign_.word.load(std::memory_order_relaxed);
    while (word > 0)
      if (sign_.word.compare_exchange_weak(word, word - k_searcher, std::memory_order_relaxed,
                                           std::memory_order_relaxed))
        return true;
    return false;
  }

  // Only for a searcher: while there is one, publishers wake nobody, so a bit may be missing in the sign for a moment.
  unsigned take(unsigned near) {
    const unsigned home = near / k_group_slots;
    auto marked = static_cast<std::uint32_t>(sign_.word.load(std::memory_order_relaxed));
    while (marked != 0) {
      const unsigned ahead = static_cast<unsigned>(std::countr_zero(std::rotr(marked, static_cast<int>(home))));
      const unsigned g = (home + ahead) % k_most_groups;
      if (const unsigned slot = take_in(g, near); slot != k_nobody) return slot;
      // Partner: announce().
      sign_.word.fetch_and(~sign_bit(g), std::memory_order_acquire);
      if (groups_[g].sleeping.load(std::memory_order_relaxed) != 0)
        sign_.word.fetch_or(sign_bit(g), std::memory_order_relaxed);
      else
        marked &= ~(std::uint32_t{1} << g);
    }
    return k_nobody;
  }

  // The next one behind `near`: neighbours have neighbouring slots.
  unsigned take_in(unsigned g, unsigned near) {
    std::uint64_t bits = 0;
    while ((bits = groups_[g].sleeping.load(std::memory_order_relaxed)) != 0) {
      const unsigned ahead = static_cast<unsigned>(std::countr_zero(std::rotr(bits, near % k_group_slots)));
      const unsigned slot = g * k_group_slots + (near + ahead) % k_group_slots;
      if (clear(slot)) return slot;
    }
    return k_nobody;
  }

  wake_sign<Atomics>& sign_;
  const std::unique_ptr<group[]> groups_;
  const bool searches_;
};

}  // namespace shoal::lockfree

// SPDX-License-Identifier: Apache-2.0
// The simulated memory of the C++20 memory model, by views: for each location all stores in modification order, and for
// each thread the oldest store that it may still see. A load may see this store or any later one. A release store
// carries its thread's view, and an acquire load adopts it. A sequentially consistent fence exchanges views with a
// global view, so each fence knows what the earlier fences knew. Happens-before, for data races, is a vector clock that
// is part of the views. (After Kang et al., "A promising semantics for relaxed-memory concurrency", 2017, without
// promises.)
// Not simulated: a load that sees a store executed later (load buffering); a store that enters the modification order
// before one executed earlier; spurious failures of compare_exchange_weak. Release sequences are those of C++20.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace shoal::model {

inline constexpr std::size_t k_max_threads = 6;  // thread 0 does the set-up and the final checks
inline constexpr std::size_t k_max_locations = 64;

inline bool acquires(std::memory_order o) {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}
inline bool releases(std::memory_order o) {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}

struct view {
  std::array<std::uint16_t, k_max_locations> seen{};  // per location: the oldest store that may still be read
  std::array<std::uint32_t, k_max_threads> clock{};   // per thread: its steps that happened before

  void join_seen(const view& other) {
    for (std::size_t i = 0; i < k_max_locations; ++i) seen[i] = std::max(seen[i], other.seen[i]);
  }
  void join(const view& other) {
    join_seen(other);
    for (std::size_t i = 0; i < k_max_threads; ++i) clock[i] = std::max(clock[i], other.clock[i]);
  }
};

struct store_record {
  std::uint64_t value;
  view message;  // the view that an acquiring reader adopts
};

struct location {
  std::vector<store_record> stores;  // the modification order
  std::size_t creator;
  std::uint32_t created;  // the creator's step

  std::size_t newest() const { return stores.size() - 1; }
};

// The view of a thread, and its operations on the memory.
struct observer {
  std::size_t id = 0;
  view now;
  view pending;   // from relaxed loads, until an acquire fence
  view released;  // as of the last release fence

  std::uint32_t tick() { return ++now.clock[id]; }
};

class memory {
public:
  void clear() {
    used_ = 0;
    fenced_ = {};
  }

  std::size_t create(observer& by, std::uint64_t value) {
    if (used_ == k_max_locations) throw std::length_error("more atomics than the explorer has room for");
    if (used_ == locations_.size()) locations_.emplace_back();
    location& made = locations_[used_];
    made.stores.assign(1, {value, by.now});
    made.creator = by.id;
    made.created = by.tick();
    return used_++;
  }

  const location& at(std::size_t where) const { return locations_[where]; }

  // Whether `by` may know that this atomic exists.
  bool constructed_for(const observer& by, std::size_t where) const {
    return by.now.clock[locations_[where].creator] >= locations_[where].created;
  }

  // The oldest store that a load may see.
  std::size_t oldest_visible(const observer& by, std::size_t where, std::memory_order order) const {
    const std::size_t own = by.now.seen[where];
    return order == std::memory_order_seq_cst ? std::max<std::size_t>(own, fenced_.seen[where]) : own;
  }

  std::uint64_t load(observer& by, std::size_t where, std::size_t index, std::memory_order order) {
    const store_record& read = locations_[where].stores[index];
    advance(by.now, where, index);
    (acquires(order) ? by.now : by.pending).join(read.message);
    if (order == std::memory_order_seq_cst) advance(fenced_, where, index);
    return read.value;
  }

  void store(observer& by, std::size_t where, std::uint64_t value, std::memory_order order) {
    const std::size_t index = locations_[where].stores.size();
    advance(by.now, where, index);
    locations_[where].stores.push_back({value, releases(order) ? by.now : by.released});
    if (order == std::memory_order_seq_cst) advance(fenced_, where, index);
  }

  // A read-modify-write reads the newest store and continues its release sequence.
  void replace_newest(observer& by, std::size_t where, std::uint64_t value, std::memory_order order) {
    const std::size_t read = locations_[where].newest();
    load(by, where, read, order);
    store(by, where, value, order);
    location& there = locations_[where];
    there.stores.back().message.join(there.stores[read].message);
  }

  void fence(observer& by, std::memory_order order) {
    if (acquires(order)) by.now.join(by.pending);
    if (order == std::memory_order_seq_cst) {
      by.now.join_seen(fenced_);
      fenced_.join_seen(by.now);
    }
    if (releases(order)) by.released = by.now;
  }

  // Time passes: every store becomes visible.
  void catch_up(observer& by) const {
    for (std::size_t i = 0; i < used_; ++i) advance(by.now, i, locations_[i].newest());
  }

private:
  static void advance(view& v, std::size_t where, std::size_t index) {
    v.seen[where] = std::max(v.seen[where], static_cast<std::uint16_t>(index));
  }

  std::vector<location> locations_;
  std::size_t used_ = 0;
  view fenced_;  // the combined view of sequentially consistent fences and accesses, in their total order
};

// Non-atomic data: if one of two accesses is a write, happens-before must order them.
struct race_clock {
  std::size_t writer = 0;
  std::uint32_t written = 0;
  std::array<std::uint32_t, k_max_threads> read{};

  bool read_by(observer& by) {
    read[by.id] = by.tick();
    return by.now.clock[writer] >= written;
  }
  bool written_by(observer& by) {
    bool ordered = by.now.clock[writer] >= written;
    for (std::size_t i = 0; i < k_max_threads; ++i) ordered = ordered && by.now.clock[i] >= read[i];
    writer = by.id;
    written = by.tick();
    return ordered;
  }
};

}  // namespace shoal::model

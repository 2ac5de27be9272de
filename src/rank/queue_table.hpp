// SPDX-License-Identifier: Apache-2.0
// A hash table of queues: first in, first out, by key; an element can leave from anywhere. Elements are linked by a
// member, so that the table allocates for keys alone.
// Who may call: one thread. Only reserve() allocates, and it forgets the keys of empty queues.
// Complexity: O(1) expected. Test: tests/unit/rank/matching_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "shoal/detail/assert.hpp"

namespace shoal::rank {

/// An element's place in a queue.
struct queue_link {
  queue_link* before = nullptr;
  queue_link* behind = nullptr;
};

/// A queue.
struct queue_ends {
  queue_link* first = nullptr;
  queue_link* last = nullptr;

  bool empty() const noexcept { return first == nullptr; }
  void append(queue_link& l) noexcept {
    l = {last, nullptr};
    (last == nullptr ? first : last->behind) = &l;
    last = &l;
  }
  void remove(queue_link& l) noexcept {
    (l.before == nullptr ? first : l.before->behind) = l.behind;
    (l.behind == nullptr ? last : l.behind->before) = l.before;
  }
};

struct queue_key {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const queue_key&, const queue_key&) = default;
};

class queue_table {
public:
  /// Room for so many more keys. May throw std::bad_alloc; then nothing has changed.
  void reserve(std::size_t keys = 1) {
    if (4 * (used_ + keys) > 3 * capacity_) [[unlikely]]
      rebuild(keys);
  }
  /// The queue of `key`, made if there is none. After reserve(). Valid until the next reserve().
  queue_ends& at(const queue_key& key) noexcept {
    SHOAL_CHECK(used_ < capacity_, "a key is added to a queue_table without reserve()");
    entry& e = slot_of(key);
    if (!e.used) [[unlikely]] {
      e.used = true;
      e.key = key;
      ++used_;
    }
    return e.queue;
  }
  /// The same; nullptr if there is none. It may be empty.
  queue_ends* find(const queue_key& key) noexcept {
    if (used_ == 0) return nullptr;
    entry& e = slot_of(key);
    return e.used ? &e.queue : nullptr;
  }
  /// How many keys have an entry; those of empty queues count until reserve() forgets them.
  std::size_t keys() const noexcept { return used_; }

private:
  struct entry {
    queue_key key;
    queue_ends queue;
    bool used = false;
  };
  __extension__ using wide = unsigned __int128;
  // One multiplication of 128 bits, whose halves are joined: all bits of the key reach the low bits.
  static std::size_t hash_of(const queue_key& key) noexcept {
    constexpr std::uint64_t k_odd = 0x9e37'79b9'7f4a'7c15;
    constexpr std::uint64_t k_other = 0xd6e8'feb8'6659'fd93;
    const auto product = static_cast<wide>(key.high ^ k_odd) * (key.low ^ k_other);
    return static_cast<std::size_t>(product >> 64) ^ static_cast<std::size_t>(product);
  }
  // The entry of `key`, or the free one where it belongs.
  entry& slot_of(const queue_key& key) noexcept {
    const std::size_t mask = capacity_ - 1;
    std::size_t at = hash_of(key) & mask;
    while (entries_[at].used && entries_[at].key != key) at = (at + 1) & mask;
    return entries_[at];
  }
  void rebuild(std::size_t more);

  std::unique_ptr<entry[]> entries_;
  std::size_t capacity_ = 0;  // a power of two, or 0
  std::size_t used_ = 0;
};

}  // namespace shoal::rank
